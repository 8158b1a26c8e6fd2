public import PlugModel
public import PlugProtocol
public import ProtocolCore

/// Follows one plug: connects, subscribes after the last received event, sends commands, and reconnects with increasing
/// delays when the connection is lost. ``FollowedPlug`` is the shell.
public struct PlugFollower: Machine {
    /// An input of the machine.
    public enum Event: MachineEvent {
        /// The plug was announced, its address changed, or the network changed. A waiting machine connects at once, and
        /// an existing connection must prove that it works. If it does not within ``PlugFollower/probeGrace``, the machine
        /// requests a second connection and uses whichever works first.
        case located
        /// The next connection goes to this plug, whose pinned key the peer must prove.
        case dialling(PlugID)
        /// A connection was established.
        case opened(ConnectionID)
        /// The connection attempt failed.
        case failed(Disconnection)
        /// Bytes arrived on a connection.
        case received([UInt8], on: ConnectionID)
        /// True when the shell resumes reading from the network, false when it pauses because its reader is behind.
        /// Before the first such event, the shell reads.
        case reading(Bool)
        /// The connection ended.
        case closed(ConnectionID)
        /// Sends the command, and sends it again on each new connection until it is answered or withdrawn.
        case command(RequestID, PlugCommand)
        /// The caller no longer waits for the answer.
        case withdraw(RequestID)
        /// Fetches the samples between two instants of the controller's clock, over as many connections as needed. The
        /// number must be unique during the machine's lifetime.
        case fetch(UInt32, from: Instant, to: Instant)
        /// Fetches the samples of one boot, in milliseconds of its clock, both ends included. The fetch fails with a
        /// refusal if the plug is in a different boot.
        case fetchBoot(UInt32, BootID, ClosedRange<Int64>)
        /// The caller no longer waits for the fetch.
        case withdrawFetch(UInt32)
        /// Sends a request if there is a session. The request ends with the connection.
        case request(ControllerRequest)
        /// Subscribes to the plug's log lines of this level or a higher one, over as many connections as needed. The
        /// subscription ends at the instant; with nil, it ends when the machine is stopped.
        case followLog(LogLevel, until: Instant?)
        /// Sends a goodbye and ends the machine.
        case stop
        /// The time of `nextDeadline` has passed.
        case deadlineReached
    }

    /// An output of the machine.
    public enum Action {
        /// Resolves and dials the plug. The shell answers with `opened` or `failed`.
        case connect
        /// Sends bytes on the connection.
        case send([UInt8], on: ConnectionID)
        /// Closes the connection.
        case close(ConnectionID)
        /// Reports an update to the reader.
        case deliver(PlugUpdate)
        /// The outcome of a command; at most one for each command.
        case finished(RequestID, CommandOutcome)
        /// A part of a fetch with the clock of the plug's boot. The chunk is empty if the plug has no samples in the
        /// range. `last` is true for the last part of the fetch.
        case samples(UInt32, chunk: [UInt8], of: ClockMapping, last: Bool)
        /// An answer to a request.
        case answer(ControllerAnswer)
        /// The plug's next key. The shell stores it and then sends ``PlugProtocol/ControllerRequest/nextKeyKept(_:)``.
        case nextKey(PublicKey)
        /// The plug's settings and names. `name` is nil at the beginning of a session.
        case described(name: String?, given: String, RemoteSettings?)
        /// The fetch ends without its last part.
        case fetchRefused(UInt32, Refusal)
    }

    enum State {
        /// The initial state, before the first `located`.
        case searching
        case connecting
        case connected(ConnectionID, ControllerSession)
        case waiting(until: Instant)
        case stopped
    }

    /// The maximum number of unanswered commands, which is the limit of one session, so a new connection can carry them
    /// all. The limit prevents a caller that ignores the answers from filling the memory.
    static let maximumPendingCommands = PlugWire.requestsInFlight
    /// The time after which an unanswered command is sent again. It keeps its id, so the plug executes it once. A plug
    /// drops a command that it reads after this time.
    static let commandDeadline = Duration.seconds(5)
    /// The time that a connection has to answer a probe before a second connection is requested.
    static let probeGrace = Duration.milliseconds(500)

    /// The attempt to replace a connection that does not answer a probe.
    private enum Replacement {
        case none
        case due(Instant)
        case dialling
    }

    var state = State.searching
    private let controllerName: String
    let stateOptions: StateOptions?
    var position: EventPosition?
    /// The plug that the next or current connection must reach; nil if the shell has not set one.
    private(set) var expected: PlugID?
    /// The current estimate of the plug's clock, which is kept across connections.
    public internal(set) var clock: ClockMapping?
    var pending: [(id: RequestID, command: PlugCommand)] = []
    var fetches: [SampleFetch] = []
    var log: LogSubscription?
    var isReading = true
    private var backOff = BackOff()
    /// The beginning of the current session.
    var welcomedAt: Instant?
    private var random: SeededRandom
    private var replacement = Replacement.none

    /// Creates a machine that is not connected.
    ///
    /// - Parameters:
    ///   - controllerName: The name of this controller, which plugs report as the cause of the controller's commands.
    ///   - cursor: The position at which the plug's events begin; nil for no events.
    ///   - known: The last event that the caller has seen of each plug; it takes precedence over `cursor`.
    ///   - stateOptions: The conditions under which the plug sends its state; nil for no states.
    ///   - seed: The seed of the retry jitter.
    public init(
        controllerName: String, cursor: Cursor?, known: [PlugID: SequenceNumber] = [:], stateOptions: StateOptions?,
        seed: UInt64
    ) {
        self.controllerName = controllerName
        self.stateOptions = stateOptions
        position = cursor.map { EventPosition(first: $0, known: known) }
        random = SeededRandom(seed: seed)
    }

    /// True while there is a session for requests.
    var isConnected: Bool { connection != nil }

    /// The connection of the current session.
    var connection: ConnectionID? {
        switch state {
        case .connected(let id, _): id
        case .searching, .connecting, .waiting, .stopped: nil
        }
    }

    /// The time of the next `deadlineReached`; nil while no deadline is pending.
    public var nextDeadline: Instant? {
        switch state {
        case .searching, .connecting, .stopped: nil
        case .connected(_, let session):
            if case .due(let time) = replacement {
                sooner(sooner(session.nextDeadline, log?.nextDeadline), time)
            } else {
                sooner(session.nextDeadline, log?.nextDeadline)
            }
        case .waiting(let until): until
        }
    }

    /// Handles an event and returns the resulting actions.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .located: located(now: now)
        case .dialling(let plug): expect(plug)
        case .opened(let id): opened(id, now: now)
        case .failed(let reason): failed(reason, now: now)
        case .received(let bytes, let id): inSession(id, .received(bytes), now: now)
        case .reading(let reads): reading(reads, now: now)
        case .closed(let id): inSession(id, .closed, now: now)
        case .command(let id, let command): self.command(id, command, now: now)
        case .withdraw(let id): withdraw(id)
        case .fetch(let id, let from, let to): fetch(SampleFetch(id: id, .instants(from, to)), now: now)
        case .fetchBoot(let id, let boot, let range): fetch(SampleFetch(id: id, .boot(boot, range)), now: now)
        case .withdrawFetch(let id): withdraw(fetch: id)
        case .request(let request): inSession(nil, .request(request), now: now)
        case .followLog(let level, let until): followLog(LogSubscription(level: level, until: until), now: now)
        case .stop: stop(now: now)
        case .deadlineReached: deadlineReached(now: now)
        }
    }

    private mutating func located(now: Instant) -> [Action] {
        switch state {
        case .searching, .waiting:
            state = .connecting
            return [.connect]
        case .connected(_, let session):
            switch replacement {
            case .none: replacement = .due(now + Self.probeGrace)
            // The network changed once more.
            case .due: if session.isProbed { replacement = .due(now) }
            case .dialling: break
            }
            return inSession(nil, .probe, now: now)
        case .connecting, .stopped: return []
        }
    }

    private mutating func expect(_ plug: PlugID) -> [Action] {
        expected = plug
        return []
    }

    private mutating func opened(_ id: ConnectionID, now: Instant) -> [Action] {
        let accepts = acceptsConnection
        replacement = .none
        guard accepts else { return [.close(id)] }
        var actions: [Action] = []
        if let connection {
            actions = [.close(connection)] + leave(.away("A new connection replaces one that does not answer."))
        }
        state = .connected(id, ControllerSession(name: controllerName, clock: clock))
        return actions + inSession(id, .connected, now: now) + inSession(id, .reading(isReading), now: now)
    }

    /// True if the machine uses the next connection. Otherwise it closes it.
    var acceptsConnection: Bool {
        switch state {
        case .connecting: true
        case .connected(_, let session): isDialling && session.isProbed
        case .searching, .waiting, .stopped: false
        }
    }

    private var isDialling: Bool { if case .dialling = replacement { true } else { false } }

    /// Handles a failed attempt. A failure that arrives while a connection of the same attempt is open has no effect.
    private mutating func failed(_ reason: Disconnection, now: Instant) -> [Action] {
        switch state {
        case .connecting: return ended(reason, now: now)
        case .connected(_, let session):
            if isDialling { replacement = session.isProbed ? .due(now + Self.probeGrace) : .none }
            return []
        case .searching, .waiting, .stopped: return []
        }
    }

    private mutating func reading(_ reads: Bool, now: Instant) -> [Action] {
        isReading = reads
        return inSession(nil, .reading(reads), now: now)
    }

    /// Passes an event to the session of this connection, or to the current session if `id` is nil. Events of earlier
    /// connections are dropped.
    mutating func inSession(_ id: ConnectionID?, _ event: ControllerSession.Event, now: Instant) -> [Action] {
        guard case .connected(let current, var session) = state, id == nil || id == current else { return [] }
        let actions = session.handle(event, now: now)
        state = .connected(current, session)
        clock = session.clock ?? clock
        return actions.flatMap { perform($0, on: current, now: now) }
    }

    private mutating func perform(_ action: ControllerSession.Action, on id: ConnectionID, now: Instant) -> [Action] {
        switch action {
        case .send(let bytes): [.send(bytes, on: id)]
        case .close: [.close(id)]
        case .deliver(let update): deliver(update, now: now)
        }
    }

    /// Reports the disconnection and schedules the next attempt.
    mutating func retryLater(after reason: Disconnection, now: Instant) -> [Action] {
        if case .stopped = state { return [] }
        if isDialling {
            replacement = .none
            state = .connecting
            return leave(reason)
        }
        // The delay is reset only after a stable session. Otherwise a plug that accepts the session and then violates
        // the protocol would be retried several times per second forever.
        if let began = welcomedAt, now - began >= BackOff.settled { backOff.reset() }
        replacement = .none
        let delay = backOff.next(using: &random)
        state = .waiting(until: now + delay)
        return leave(reason, retryIn: delay)
    }

    /// Ends the session and reports the disconnection.
    private mutating func leave(_ reason: Disconnection, retryIn delay: Duration = .zero) -> [Action] {
        welcomedAt = nil
        fetches.removeAll { $0.isWithdrawn }
        log?.asksAgainAt = nil
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
            return inSession(nil, .deadlineReached, now: now) + askForLog(isDue: log?.isDue(now) == true, now: now)
                + replaceIfSilent(now: now)
        case .searching, .connecting, .waiting, .stopped:
            return []
        }
    }

    /// Requests a second connection if the current one had its time to answer a probe.
    private mutating func replaceIfSilent(now: Instant) -> [Action] {
        guard case .connected(_, let session) = state, case .due(let time) = replacement, time <= now else { return [] }
        // While the shell does not read, an answer may wait in the kernel.
        guard session.isProbed, isReading else {
            replacement = .none
            return []
        }
        replacement = .dialling
        return [.connect]
    }
}
