import PlugProtocol
import ProtocolCore
import SimulatedLAN

/// A small controller on the simulated LAN: it follows one plug, comes back with back-off, keeps its cursor, and repeats a
/// command until it is answered.
struct ControllerHost {
    struct Outstanding {
        var command: PlugCommand
        /// The boot in which it was sent first: a plug that lost its power does not know it any more.
        var boot: BootID?
    }

    /// Survives everything, as a database does.
    struct Database {
        var cursor: SequenceNumber = 0
        var seen: [PlugEvent] = []
        var gaps: [Gap] = []
        var outstanding: [RequestID: Outstanding] = [:]
        var acknowledged: [RequestID: CommandOutcome] = [:]
    }

    private enum Link {
        case waiting(until: Instant)
        case connecting(StreamID, until: Instant)
        case open(StreamID, ControllerSession)
    }

    let name: String
    let plug: Endpoint
    var database = Database()
    /// What went against the protocol's promises.
    private(set) var violation: String?
    private(set) var lastAge: (event: PlugEvent, age: Duration?, uncertainty: Duration, at: Instant)?
    private(set) var plugDescription: PlugDescription?
    private(set) var sessions = 0
    private var link = Link.waiting(until: .zero)
    private var failures = 0
    private var streams: UInt32 = 0
    private var random = SeededRandom(seed: 0)

    init(name: String, plug: Endpoint) {
        self.name = name
        self.plug = plug
    }

    var nextDeadline: Instant? {
        switch link {
        case .waiting(let until), .connecting(_, let until): until
        case .open(_, let session): session.nextDeadline
        }
    }

    mutating func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            random = SeededRandom(seed: start.seed)
            link = .waiting(until: now)
            return []
        case .interfaceUp:
            guard case .waiting = link else { return [] }
            return connect(now: now)
        case .connected(let stream):
            guard case .connecting(stream, _) = link else { return [] }
            link = .open(stream, ControllerSession(name: name))
            return perform(.connected, now: now)
        case .received(let stream, let bytes):
            guard case .open(stream, _) = link else { return [] }
            return perform(.received(bytes), now: now)
        case .closed(let stream, _):
            return closed(stream, now: now)
        case .deadlineReached:
            return deadlineReached(now: now)
        case .stimulus(.command(let on)):
            let request = RequestID(drawnFrom: &random)
            database.outstanding[request] = Outstanding(command: .setRelay(on: on, autoOff: nil))
            return send(request, now: now)
        case .stimulus(.press), .interfaceDown, .datagram, .accepted, .writable, .wallClockStepped:
            return []
        }
    }

    private mutating func connect(now: Instant) -> [HostAction] {
        streams += 1
        link = .connecting(StreamID(streams), until: now + .seconds(10))
        return [.connect(StreamID(streams), to: plug)]
    }

    private mutating func retryLater(now: Instant) {
        plugDescription = nil
        failures += 1
        let longest = min(Duration.seconds(30), .milliseconds(500) * (1 << min(failures, 7)))
        link = .waiting(until: now + random.duration(in: (longest / 2)...longest))
    }

    private mutating func closed(_ stream: StreamID, now: Instant) -> [HostAction] {
        switch link {
        case .connecting(stream, _):
            retryLater(now: now)
            return []
        case .open(stream, _):
            return perform(.closed, now: now)
        case .waiting, .connecting, .open:
            return []
        }
    }

    private mutating func deadlineReached(now: Instant) -> [HostAction] {
        switch link {
        case .waiting(let until):
            return until <= now ? connect(now: now) : []
        case .connecting(let stream, let until):
            guard until <= now else { return [] }
            retryLater(now: now)
            return [.close(stream)]
        case .open:
            return perform(.deadlineReached, now: now)
        }
    }

    private mutating func send(_ request: RequestID, now: Instant) -> [HostAction] {
        guard case .open = link, let plugDescription, var outstanding = database.outstanding[request] else { return [] }
        guard outstanding.boot ?? plugDescription.boot == plugDescription.boot else {
            // Its outcome is lost with the plug's power; whoever wanted it decides anew.
            database.outstanding[request] = nil
            return []
        }
        outstanding.boot = plugDescription.boot
        database.outstanding[request] = outstanding
        return perform(.command(request, outstanding.command, deadline: now + .seconds(5)), now: now)
    }

    /// The session ignores those that wait for their answer already.
    private mutating func sendOutstanding(now: Instant) -> [HostAction] {
        database.outstanding.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            .flatMap { send($0, now: now) }
    }

    /// Hands an event to the session and does what it says.
    private mutating func perform(_ event: ControllerSession.Event, now: Instant) -> [HostAction] {
        guard case .open(let stream, var session) = link else { return [] }
        let actions = session.handle(event, now: now)
        link = .open(stream, session)
        var out: [HostAction] = []
        for action in actions {
            switch action {
            case .send(let bytes): out.append(.write(stream, bytes))
            case .close: out.append(.close(stream))
            case .deliver(let update): out += take(update, now: now)
            }
        }
        return out
    }

    private mutating func take(_ update: SessionUpdate, now: Instant) -> [HostAction] {
        switch update {
        case .welcomed(let plug):
            plugDescription = plug
            failures = 0
            sessions += 1
            let subscription = SubscriptionOptions(
                events: .after(database.cursor), state: StateOptions(deadBandMilliwatts: 20_000))
            return perform(.subscribe(subscription), now: now)
                + sendOutstanding(now: now)
        case .subscribed(_, let gap):
            if let gap {
                if gap.from != database.cursor + 1 { violation = "a gap from \(gap.from) after \(database.cursor)" }
                database.gaps.append(gap)
                database.cursor = gap.to
            }
            return []
        case .event(let event, let age):
            if event.sequence != database.cursor + 1 {
                violation = "event \(event.sequence) came after \(database.cursor)"
            }
            database.cursor = event.sequence
            database.seen.append(event)
            lastAge = (event, age, plugDescription!.clock.uncertainty, now)
            return perform(.acknowledge(event.sequence), now: now)
        case .commandFinished(let request, let outcome):
            // Too many waited for their answer; it goes out again when one of them has ended.
            if case .refused(let refusal) = outcome, refusal.code == .busy { return [] }
            guard database.outstanding.removeValue(forKey: request) != nil else { return [] }
            database.acknowledged[request] = outcome
            return sendOutstanding(now: now)
        case .commandUnanswered(let request):
            return send(request, now: now)
        case .ended(let reason):
            if case .ended(let goodbye) = reason, goodbye.reason != .silent {
                violation = "the plug broke the protocol: \(goodbye.detail)"
            }
            retryLater(now: now)
            return []
        case .unknownEvent, .samples, .fetchRefused:
            violation = "nobody asked for \(update)"
            return []
        case .snapshot, .state:
            return []
        }
    }
}
