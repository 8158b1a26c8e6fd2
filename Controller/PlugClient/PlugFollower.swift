public import PlugProtocol
public import ProtocolCore

/// Keeps one plug followed: connects, subscribes after the last event seen, sends commands, and comes back with back-off
/// when the connection is lost. Pure; ``FollowedPlug`` is its shell.
public struct PlugFollower: Machine {
    public enum Event: MachineEvent {
        /// The plug was announced, or the network changed: worth a try at once.
        case located
        case opened(ConnectionID)
        /// The attempt to connect failed.
        case failed(reason: String)
        case received([UInt8], on: ConnectionID)
        case closed(ConnectionID)
        /// Sends the command, again on each new connection, until it is answered or withdrawn.
        case command(RequestID, PlugCommand)
        /// Nobody waits for the answer any more.
        case withdraw(RequestID)
        /// Fetches the samples between two plug times of the present boot; the answer comes as `samples`.
        case fetchSamples(fetch: UInt32, from: Instant, to: Instant)
        /// Every event up to this one has taken effect.
        case acknowledge(SequenceNumber)
        case stop
        case deadlineReached
    }

    public enum Action {
        /// Resolve the plug anew and dial it; report `opened` or `failed`.
        case connect
        case send([UInt8], on: ConnectionID)
        case close(ConnectionID)
        case deliver(PlugUpdate)
    }

    enum State {
        /// Nothing known of where the plug is.
        case searching
        case connecting
        case connected(ConnectionID, ControllerSession)
        case waiting(until: Instant)
        case stopped
    }

    /// Commands that may wait for their answer: as many as one session takes, so that a new connection can carry them all.
    /// Stops a caller that never looks at the answers from filling the memory.
    static let maximumPendingCommands = PlugWire.requestsInFlight
    /// How long the plug may take for a command. It is asked again after that, with the same id, so nothing is done twice.
    static let commandDeadline = Duration.seconds(5)

    private(set) var state = State.searching
    private let controllerName: String
    private let stateOptions: StateOptions?
    private var cursor: SequenceNumber?
    private var pending: [(id: RequestID, command: PlugCommand)] = []
    private var backOff = BackOff()
    /// When the present session began.
    private var welcomedAt: Instant?
    private var random: SeededRandom

    /// - Parameters:
    ///   - controllerName: what a person calls this controller; shown as the cause of its commands.
    ///   - cursor: the last event seen; nil listens from now on.
    ///   - stateOptions: how often a reading is worth sending; nil for no states.
    public init(controllerName: String, cursor: SequenceNumber?, stateOptions: StateOptions?, seed: UInt64) {
        self.controllerName = controllerName
        self.cursor = cursor
        self.stateOptions = stateOptions
        random = SeededRandom(seed: seed)
    }

    public var nextDeadline: Instant? {
        switch state {
        case .searching, .connecting, .stopped: nil
        case .connected(_, let session): session.nextDeadline
        case .waiting(let until): until
        }
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .located: located()
        case .opened(let id): opened(id, now: now)
        case .failed(let reason): failed(reason, now: now)
        case .received(let bytes, let id): inSession(id, .received(bytes), now: now)
        case .closed(let id): inSession(id, .closed, now: now)
        case .command(let id, let command): self.command(id, command, now: now)
        case .withdraw(let id): withdraw(id)
        case .fetchSamples(let fetch, let from, let to):
            inSession(nil, .fetchSamples(fetch, from: from, to: to), now: now)
        case .acknowledge(let sequence): inSession(nil, .acknowledge(sequence), now: now)
        case .stop: stop(now: now)
        case .deadlineReached: deadlineReached(now: now)
        }
    }

    private var subscription: SubscriptionOptions {
        SubscriptionOptions(events: cursor.map { .after($0) } ?? .fromNow, state: stateOptions)
    }

    private mutating func located() -> [Action] {
        switch state {
        case .searching, .waiting:
            state = .connecting
            return [.connect]
        case .connecting, .connected, .stopped:
            return []
        }
    }

    private mutating func opened(_ id: ConnectionID, now: Instant) -> [Action] {
        guard case .connecting = state else { return [.close(id)] }
        state = .connected(id, ControllerSession(name: controllerName))
        return inSession(id, .connected, now: now) + inSession(id, .subscribe(subscription), now: now)
            + pending.flatMap {
                inSession(id, .command($0.id, $0.command, deadline: now + Self.commandDeadline), now: now)
            }
    }

    /// An attempt that failed after all, while the connection that it made lives, changes nothing.
    private mutating func failed(_ reason: String, now: Instant) -> [Action] {
        switch state {
        case .connecting: retryLater(after: reason, now: now)
        case .searching, .connected, .waiting, .stopped: []
        }
    }

    private mutating func command(_ id: RequestID, _ command: PlugCommand, now: Instant) -> [Action] {
        if case .stopped = state {
            let refusal = Refusal(.deadlinePassed, "the plug is no longer followed")
            return [.deliver(.commandFinished(id, .refused(refusal)))]
        }
        guard !pending.contains(where: { $0.id == id }) else { return [] }
        guard pending.count < Self.maximumPendingCommands else {
            let refusal = Refusal(.busy, "\(pending.count) commands are waiting for this plug already")
            return [.deliver(.commandFinished(id, .refused(refusal)))]
        }
        pending.append((id, command))
        return inSession(nil, .command(id, command, deadline: now + Self.commandDeadline), now: now)
    }

    private mutating func withdraw(_ id: RequestID) -> [Action] {
        pending.removeAll { $0.id == id }
        return []
    }

    /// Hands an event to the session of this connection, or of whichever there is; one of an earlier connection is dropped.
    private mutating func inSession(_ id: ConnectionID?, _ event: ControllerSession.Event, now: Instant) -> [Action] {
        guard case .connected(let current, var session) = state, id == nil || id == current else { return [] }
        let actions = session.handle(event, now: now)
        state = .connected(current, session)
        return actions.flatMap { perform($0, on: current, now: now) }
    }

    private mutating func perform(_ action: ControllerSession.Action, on id: ConnectionID, now: Instant) -> [Action] {
        switch action {
        case .send(let bytes): [.send(bytes, on: id)]
        case .close: [.close(id)]
        case .deliver(let update): deliver(update, now: now)
        }
    }

    private mutating func deliver(_ update: SessionUpdate, now: Instant) -> [Action] {
        switch update {
        case .welcomed(let description):
            welcomedAt = now
            return [.deliver(.connected(description))]
        case .subscribed(let next, let gap):
            let isNew = cursor == nil
            let reached = gap?.to ?? cursor ?? (next - 1)
            cursor = reached
            return (gap.map { [.deliver(.gap($0))] } ?? []) + (isNew ? [.deliver(.following(after: reached))] : [])
        case .snapshot(let state):
            return [.deliver(.snapshot(state))]
        case .event(let event, let age):
            cursor = event.sequence
            return [.deliver(.event(event, age: age))]
        case .unknownEvent(let sequence):
            cursor = sequence
            return []
        case .state(let state):
            return [.deliver(.state(state))]
        case .commandFinished(let id, let outcome):
            // A command that was sent again is answered again.
            guard let index = pending.firstIndex(where: { $0.id == id }) else { return [] }
            pending.remove(at: index)
            return [.deliver(.commandFinished(id, outcome))]
        case .commandUnanswered(let id):
            guard let command = pending.first(where: { $0.id == id })?.command else { return [] }
            return inSession(nil, .command(id, command, deadline: now + Self.commandDeadline), now: now)
        case .samples(let fetch, let chunk, let last):
            return [.deliver(.samples(fetch: fetch, chunk: chunk, last: last))]
        case .fetchRefused(let fetch):
            return [.deliver(.samples(fetch: fetch, chunk: [], last: true))]
        case .ended(let reason):
            return retryLater(after: reason.explanation, now: now)
        }
    }

    private mutating func retryLater(after reason: String, now: Instant) -> [Action] {
        if case .stopped = state { return [] }
        // A plug that welcomes and then breaks the protocol would else be tried several times a second for ever.
        if let began = welcomedAt, now - began >= BackOff.settled { backOff.reset() }
        welcomedAt = nil
        let delay = backOff.next(using: &random)
        state = .waiting(until: now + delay)
        return [.deliver(.disconnected(reason: reason, retryIn: delay))]
    }

    private mutating func stop(now: Instant) -> [Action] {
        guard case .connected(let id, var session) = state else {
            state = .stopped
            return []
        }
        state = .stopped
        return session.handle(.stop, now: now).flatMap { perform($0, on: id, now: now) }
    }

    private mutating func deadlineReached(now: Instant) -> [Action] {
        switch state {
        case .waiting(let until) where until <= now:
            state = .connecting
            return [.connect]
        case .connected:
            return inSession(nil, .deadlineReached, now: now)
        case .searching, .connecting, .waiting, .stopped:
            return []
        }
    }
}

/// How long to wait before the next attempt: doubling, with jitter so that a house of controllers does not return at once.
struct BackOff {
    static let first = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)
    /// A session that lasted so long was a good one: after it the waiting begins anew.
    static let settled = Duration.seconds(5)
    private var base = first

    mutating func reset() { base = Self.first }

    /// Between half of the base and the base.
    mutating func next(using random: inout SeededRandom) -> Duration {
        let delay = random.duration(in: (base / 2)...base)
        base = min(base * 2, Self.longest)
        return delay
    }
}

extension EndReason {
    /// A few words for a person.
    var explanation: String {
        switch self {
        case .ended(let goodbye): goodbye.detail
        case .endedByPeer(let goodbye): "the plug said: \(goodbye.detail)"
        case .connectionLost: "connection lost"
        }
    }
}
