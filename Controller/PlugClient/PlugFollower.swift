public import PlugModel
import PlugProtocol
public import ProtocolCore

/// Keeps one plug followed: connects, subscribes after the last event seen, sends commands, and comes back with back-off
/// when the connection is lost. Pure; ``FollowedPlug`` is its shell.
public struct PlugFollower: Machine {
    public enum Event: MachineEvent {
        /// The plug was announced, turned out to be at another place, or the network changed. Who waits tries at once; a
        /// connection that stands has to show that it is still one.
        case located
        /// Whoever is connected to next proves the key that was pinned for this plug.
        case dialling(PlugID)
        case opened(ConnectionID)
        /// The attempt to connect failed.
        case failed(Disconnection)
        case received([UInt8], on: ConnectionID)
        /// Whether the shell takes bytes from the network; it does at the start, and not while its reader is behind.
        case reading(Bool)
        case closed(ConnectionID)
        /// Sends the command, again on each new connection, until it is answered or withdrawn.
        case command(RequestID, PlugCommand)
        /// Nobody waits for the answer any more.
        case withdraw(RequestID)
        /// Fetches the samples between two instants of the controller's clock, over as many connections as that takes. A
        /// number names one fetch for as long as the machine lives.
        case fetch(UInt32, from: Instant, to: Instant)
        /// Likewise those of one boot, in milliseconds of its clock, both included; refused when the plug is in another.
        case fetchBoot(UInt32, BootID, ClosedRange<Int64>)
        case withdrawFetch(UInt32)
        /// Every event up to this one has taken effect.
        case acknowledge(SequenceNumber)
        /// Asks the plug who is paired with it; a connection that ends takes the question with it.
        case listControllers
        case removeController(fingerprint: String)
        /// Has the plug let somebody else pair with this code, once.
        case invite(SetupCode, Grant)
        case setRole(fingerprint: String, Grant)
        /// Gives the plug another setup code.
        case newCode(SetupCode)
        /// Asks about the plug's HomeKit door, or changes it.
        case manageHomeKit(HomeKitOrder)
        /// Announces the key that this controller will have.
        case announceKey(PublicKey, signature: [UInt8], pendingSignature: [UInt8])
        case listInvitations
        case revokeInvitation(UInt32)
        /// The plug's next key is stored.
        case nextKeyKept(PublicKey)
        /// Asks the plug for a part of its audit log; a connection that ends takes the question with it.
        case fetchAudit(after: UInt64, limit: UInt32?)
        /// Has the plug set itself back to factory state; a connection that ends takes the wish with it.
        case factoryReset
        /// Has the plug tell its log from this level on until that moment, over as many connections as that takes; nil: until
        /// the machine is stopped.
        case followLog(LogLevel, until: Instant?)
        case stop
        case deadlineReached
    }

    public enum Action {
        /// Resolve the plug anew and dial it; report `opened` or `failed`.
        case connect
        case send([UInt8], on: ConnectionID)
        case close(ConnectionID)
        case deliver(PlugUpdate)
        /// The command's outcome; comes once for each.
        case finished(RequestID, CommandOutcome)
        /// A part of a fetch, of this boot of the plug; without bytes where the plug has nothing in the range. The last part
        /// comes once.
        case samples(UInt32, chunk: [UInt8], of: ClockMapping, last: Bool)
        /// Who is paired with the plug.
        case controllers([PairedControllerEntry])
        case invited(for: Duration)
        case invitations([OpenInvitation])
        case codeChanged
        case homeKit(HomeKitReport)
        case keyAccepted
        /// The key that the plug will have; to be stored, and confirmed by ``Event/nextKeyKept(_:)``.
        case nextKey(PublicKey)
        /// The plug does not do what was asked of it with the message of this name.
        case requestRefused(String, Refusal)
        /// A part of the plug's audit log.
        case audit(Result<AuditPage, Refusal>)
        /// What the plug is called now, where it said so during the session, and how it is set up.
        case described(name: String?, given: String, RemoteSettings?)
        /// The fetch ends without its last part.
        case fetchRefused(UInt32, Refusal)
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

    var state = State.searching
    private let controllerName: String
    let stateOptions: StateOptions?
    var position: EventPosition?
    /// Nil where nobody said whose key it will be.
    private(set) var expected: PlugID?
    /// The best that is known of the plug's clock; it outlives the connection.
    public internal(set) var clock: ClockMapping?
    var pending: [(id: RequestID, command: PlugCommand)] = []
    var fetches: [SampleFetch] = []
    var log: FollowedLog?
    var isReading = true
    private var backOff = BackOff()
    /// When the present session began.
    var welcomedAt: Instant?
    private var random: SeededRandom

    /// - Parameters:
    ///   - controllerName: what a person calls this controller; shown as the cause of its commands.
    ///   - cursor: where its events begin; nil for no events.
    ///   - known: the last event seen of plugs by their id, which goes before `cursor`.
    ///   - stateOptions: how often a reading is worth sending; nil for no states.
    ///   - seed: of the back-off's jitter.
    public init(
        controllerName: String, cursor: Cursor?, known: [PlugID: SequenceNumber] = [:], stateOptions: StateOptions?,
        seed: UInt64
    ) {
        self.controllerName = controllerName
        self.stateOptions = stateOptions
        position = cursor.map { EventPosition(first: $0, known: known) }
        random = SeededRandom(seed: seed)
    }

    /// There is a session that questions can be asked in.
    var isConnected: Bool { if case .connected = state { true } else { false } }

    public var nextDeadline: Instant? {
        switch state {
        case .searching, .connecting, .stopped: nil
        case .connected(_, let session): sooner(session.nextDeadline, log?.nextDeadline)
        case .waiting(let until): until
        }
    }

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
        case .acknowledge(let sequence): inSession(nil, .acknowledge(sequence), now: now)
        case .listControllers: inSession(nil, .listControllers, now: now)
        case .removeController(let fingerprint): inSession(nil, .removeController(fingerprint: fingerprint), now: now)
        case .invite(let code, let grant): inSession(nil, .invite(code, grant), now: now)
        case .setRole(let fingerprint, let grant):
            inSession(nil, .setRole(fingerprint: fingerprint, grant), now: now)
        case .newCode(let code): inSession(nil, .newCode(code), now: now)
        case .manageHomeKit(let order): inSession(nil, .manageHomeKit(order), now: now)
        case .announceKey(let key, let signature, let pendingSignature):
            inSession(
                nil, .announceKey(key, signature: signature, pendingSignature: pendingSignature), now: now)
        case .listInvitations: inSession(nil, .listInvitations, now: now)
        case .revokeInvitation(let number): inSession(nil, .revokeInvitation(number), now: now)
        case .nextKeyKept(let key): inSession(nil, .nextKeyKept(key), now: now)
        case .fetchAudit(let after, let limit): inSession(nil, .fetchAudit(after: after, limit: limit), now: now)
        case .factoryReset: inSession(nil, .factoryReset, now: now)
        case .followLog(let level, let until): followLog(FollowedLog(level: level, until: until), now: now)
        case .stop: stop(now: now)
        case .deadlineReached: deadlineReached(now: now)
        }
    }

    private mutating func located(now: Instant) -> [Action] {
        switch state {
        case .searching, .waiting:
            state = .connecting
            return [.connect]
        case .connected: return inSession(nil, .probe, now: now)
        case .connecting, .stopped: return []
        }
    }

    private mutating func expect(_ plug: PlugID) -> [Action] {
        expected = plug
        return []
    }

    private mutating func opened(_ id: ConnectionID, now: Instant) -> [Action] {
        guard case .connecting = state else { return [.close(id)] }
        state = .connected(id, ControllerSession(name: controllerName, clock: clock))
        return inSession(id, .connected, now: now) + inSession(id, .reading(isReading), now: now)
    }

    /// An attempt that failed after all, while the connection that it made lives, changes nothing.
    private mutating func failed(_ reason: Disconnection, now: Instant) -> [Action] {
        switch state {
        case .connecting: ended(reason, now: now)
        case .searching, .connected, .waiting, .stopped: []
        }
    }

    private mutating func reading(_ reads: Bool, now: Instant) -> [Action] {
        isReading = reads
        return inSession(nil, .reading(reads), now: now)
    }

    /// Hands an event to the session of this connection, or of whichever there is; one of an earlier connection is dropped.
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

    mutating func retryLater(after reason: Disconnection, now: Instant) -> [Action] {
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
            return inSession(nil, .deadlineReached, now: now) + askForLog(isDue: log?.isDue(now) == true, now: now)
        case .searching, .connecting, .waiting, .stopped:
            return []
        }
    }
}
