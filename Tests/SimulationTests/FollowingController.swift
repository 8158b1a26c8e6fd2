import Metering
import PlugClient
import PlugModel
import PlugProtocol
import ProtocolCore
import SimulatedLAN

/// A controller on the simulated LAN that follows one plug at a known address: ``PlugFollower`` and its storage. After
/// each reconnection it fetches the missed samples.
final class FollowingController {
    private enum Link {
        case none
        case connecting(StreamID, until: Instant)
        case pairing(Introduction)
        case open(StreamID)
    }

    let name: String
    let stateOptions: StateOptions
    private let plug: LANEndpoint
    /// The last violated invariant of the protocol, or nil.
    private(set) var violation: String?
    private(set) var database = Database()
    private(set) var lastAge: (event: PlugEvent, age: Duration?, uncertainty: Duration, at: Instant)?
    /// The plug of the current session; nil without one.
    private(set) var description: PlugDescription?
    private(set) var heldState: PlugState?
    /// The last complete fetch, and the time of its end.
    private(set) var lastFetch: (fetch: SampleFetch, at: Instant)?
    private(set) var sessions = 0
    private var follower: PlugFollower?
    private var fetch: SampleFetch?
    private var fetches: UInt32 = 0
    /// Requests that the plug refused as busy, oldest first. Each time another request ends, the first one in this
    /// list is sent again.
    private var refused: [RequestID] = []
    private var link = Link.none
    private var address: LANAddress?
    private var streams: UInt32 = 0
    private var random = SeededRandom(seed: 0)
    /// The number of updates that are stored before the process is killed; nil if no kill is scheduled.
    private var storesLeft: Int?
    private var isKilled = false

    init(name: String, plug: LANEndpoint, stateOptions: StateOptions) {
        self.name = name
        self.plug = plug
        self.stateOptions = stateOptions
    }

    var nextDeadline: Instant? {
        switch link {
        case .none, .open: follower?.nextDeadline
        case .connecting(_, let until): sooner(until, follower?.nextDeadline)
        case .pairing(let introduction): sooner(introduction.nextDeadline, follower?.nextDeadline)
        }
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start): return begin(start, now: now)
        case .interfaceUp(_, let addresses):
            address = addresses[0]
            return step(.located, now)
        case .connected(let stream): return connected(stream, now)
        case .received(let stream, let bytes):
            if case .pairing(let introduction) = link, introduction.stream == stream {
                return pair(.received(bytes), now)
            }
            return step(.received(bytes, on: id(stream)), now)
        case .closed(let stream, _): return closed(stream, now)
        case .deadlineReached: return deadlineReached(now)
        case .stimulus(.command(let on)):
            let request = RequestID(drawnFrom: &random)
            database.outstanding[request] = .setRelay(on: on, autoOff: nil)
            return send(request, now)
        case .stimulus(.fetchSamples): return startFetch(now)
        case .stimulus(.killBeforeStore(let count)):
            storesLeft = count
            return []
        case .stimulus, .interfaceDown, .datagram, .accepted, .writable, .wallClockStepped: return []
        }
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private func begin(_ start: Start, now: Instant) -> [HostAction] {
        random = SeededRandom(seed: start.seed)
        link = .none
        (description, heldState, fetch, storesLeft, isKilled, refused) = (nil, nil, nil, nil, false, [])
        follower = PlugFollower(
            controllerName: name, cursor: database.start, known: database.cursors, stateOptions: stateOptions,
            seed: random.next())
        return sendOutstanding(now)
    }

    /// Sends the unanswered requests of the previous process.
    private func sendOutstanding(_ now: Instant) -> [HostAction] {
        database.outstanding.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.flatMap { send($0, now) }
    }

    private func send(_ request: RequestID, _ now: Instant) -> [HostAction] {
        database.outstanding[request].map { step(.command(request, $0), now) } ?? []
    }

    /// Follows a plug whose key is pinned, and pairs with any other plug first.
    private func connected(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        guard case .connecting(stream, _) = link, let address else { return [] }
        guard !database.pinned.contains(PublicKey(of: plug.address)) else {
            link = .open(stream)
            return step(.opened(id(stream)), now)
        }
        var introduction = Introduction(on: stream, name: name)
        let actions = introduction.begin(plug: PublicKey(of: plug.address), own: address, random: &random, now: now)
        link = .pairing(introduction)
        return actions
    }

    private func pair(_ event: PairingSession.Event, _ now: Instant) -> [HostAction] {
        guard case .pairing(var introduction) = link else { return [] }
        let (actions, result) = introduction.handle(event, now: now)
        link = .pairing(introduction)
        guard let result else { return actions }
        link = .none
        if case .success(let paired) = result { database.pinned.insert(paired.key) }
        return actions + step(.failed(.away("\(result)")), now)
    }

    private func closed(_ stream: StreamID, _ now: Instant) -> [HostAction] {
        switch link {
        case .pairing(let introduction) where introduction.stream == stream: return pair(.closed, now)
        case .connecting(stream, _):
            link = .none
            return step(.failed(.away("no answer")), now)
        case .open(stream):
            link = .none
            return step(.closed(id(stream)), now)
        case .none, .connecting, .pairing, .open: return []
        }
    }

    private func deadlineReached(_ now: Instant) -> [HostAction] {
        if case .pairing(let introduction) = link, introduction.nextDeadline.map({ $0 <= now }) == true {
            return pair(.deadlineReached, now) + step(.deadlineReached, now)
        }
        guard case .connecting(let stream, let until) = link, until <= now else { return step(.deadlineReached, now) }
        link = .none
        return [.close(stream)] + step(.failed(.away("no answer")), now) + step(.deadlineReached, now)
    }

    /// Passes an event to the follower and performs its actions in order.
    private func step(_ event: PlugFollower.Event, _ now: Instant) -> [HostAction] {
        // The received bytes may contain an event and, after it, the answer to a Ping, which reduces the uncertainty.
        // So the larger value before and after the step is used.
        let before = follower?.clock?.uncertainty(at: now) ?? .zero
        guard let actions = follower?.handle(event, now: now) else { return [] }
        let uncertainty = max(before, follower?.clock?.uncertainty(at: now) ?? .zero)
        var out: [HostAction] = []
        for action in actions where !isKilled {
            switch action {
            case .connect:
                streams += 1
                link = .connecting(StreamID(streams), until: now + .seconds(10))
                out.append(.connect(StreamID(streams), to: plug))
            case .send(let bytes, on: let connection):
                if case .open(let stream) = link, id(stream) == connection { out.append(.write(stream, bytes)) }
            case .close(let connection):
                guard case .open(let stream) = link, id(stream) == connection else { continue }
                link = .none
                out.append(.close(stream))
            case .deliver(let update): out += take(update, uncertainty, now)
            case .finished(let request, let outcome): out += finished(request, outcome, now)
            case .samples(let number, let chunk, let clock, let last):
                out += collect(number, chunk, of: clock.boot, last: last, now)
            case .described: break
            case .answer, .nextKey:
                violation = "unexpected \(action)"
            case .fetchRefused(let number, _):
                if fetch?.number == number { fetch = nil }
            }
        }
        return out
    }

    private func take(_ update: PlugUpdate, _ uncertainty: Duration, _ now: Instant) -> [HostAction] {
        switch update {
        case .connected(let plug):
            (description, heldState) = (plug, nil)
            database.meet(plug.id)
            sessions += 1
            return startFetch(now)
        case .disconnected:
            let number = fetch?.number
            (description, heldState, fetch) = (nil, nil, nil)
            return number.map { step(.withdrawFetch($0), now) } ?? []
        case .following(let sequence):
            return store {
                $0.begin(after: sequence)
            } then: {
                []
            }
        case .log: return []
        case .snapshot(let state):
            heldState = state
            return []
        case .state(let state):
            hold(state)
            return []
        case .event(let event, let age):
            lastAge = (event, age, uncertainty, now)
            return store {
                $0.take(event)
            } then: {
                step(.request(.acknowledge(event.sequence)), now)
            }
        case .gap(let gap):
            let boot = description?.boot
            return store {
                $0.take(gap, boot: boot)
            } then: {
                []
            }
        }
    }

    /// Stores effect and cursor in one transaction, and then runs `then`. If no stores are left, kills the process
    /// instead.
    private func store(_ change: (inout Database) -> String?, then: () -> [HostAction]) -> [HostAction] {
        if storesLeft == 0 {
            isKilled = true
            return [.breakDown(.kill)]
        }
        storesLeft = storesLeft.map { $0 - 1 }
        if let broken = change(&database) { violation = "\(name): \(broken)" }
        return then()
    }

    private func finished(_ request: RequestID, _ outcome: CommandOutcome, _ now: Instant) -> [HostAction] {
        if case .refused(let refusal) = outcome, refusal.code == .busy {
            refused.append(request)
            return []
        }
        let boot = description?.boot
        return store { database in
            guard database.outstanding.removeValue(forKey: request) != nil else { return "a command ended twice" }
            database.acknowledged[request] = (outcome, boot)
            return nil
        } then: {
            refused.isEmpty ? [] : send(refused.removeFirst(), now)
        }
    }

    private func hold(_ state: PlugState) {
        guard let held = heldState else {
            violation = "\(name): a state came before the snapshot"
            return
        }
        if let old = held.reading?.time, let new = state.reading?.time, new < old {
            violation = "\(name): a reading of \(new) came after one of \(old)"
        }
        heldState = state
    }

    // MARK: Samples

    /// Fetches the missing samples of this boot, up to a moment that has certainly passed at the plug.
    private func startFetch(_ now: Instant) -> [HostAction] {
        guard let description, let clock = follower?.clock, fetch == nil else { return [] }
        let uncertainty = clock.uncertainty(at: now)
        let first = (database.samples[description.boot]?.last?.milliseconds ?? -1) + 1
        let last = (clock.plugTime(at: now) - uncertainty).nanoseconds / 1_000_000 - 1
        guard first <= last else { return [] }
        fetches += 1
        fetch = SampleFetch(number: fetches, boot: description.boot, range: first...last)
        // The follower may improve its estimate of the plug's clock later, so the samples are cut to the range.
        let margin = uncertainty * 2 + .milliseconds(1)
        let from = clock.instant(ofPlugTime: Instant(nanoseconds: first * 1_000_000)) - margin
        let to = clock.instant(ofPlugTime: Instant(nanoseconds: last * 1_000_000)) + margin
        return step(.fetch(fetches, from: from, to: to), now)
    }

    private func collect(
        _ number: UInt32, _ chunk: [UInt8], of boot: BootID, last: Bool, _ now: Instant
    ) -> [HostAction] {
        guard var current = fetch, current.number == number, current.boot == boot else { return [] }
        do {
            if !chunk.isEmpty { try current.add(SampleChunk(bytes: chunk).samples()) }
        } catch {
            violation = "\(name): \(error)"
        }
        fetch = last ? nil : current
        guard last else { return [] }
        return store { database in
            database.samples[current.boot, default: []] += current.samples
            return nil
        } then: {
            lastFetch = (current, now)
            return []
        }
    }
}
