internal import DequeModule
import PlugModel
internal import ProtocolCore

/// The plug's side of one connection.
struct ServerSession: Sendable {
    /// The phase of the session. Goodbye ends the session in every phase; messages of a later version are skipped.
    enum Phase: Sendable {
        /// Connected. Only Hello and PairingRequest are allowed.
        case awaitingHello(since: Instant)
        /// PairingChallenge was sent. Only PairingProof is allowed.
        case challenged(since: Instant, Pairing)
        /// The proof arrived at `since`. It is checked when the ``PairingGate`` allows it. Further messages end the
        /// session.
        case proving(since: Instant, Pairing, proof: [UInt8])
        case established(Established)
    }

    struct Pairing: Sendable {
        /// The name that the controller states.
        let name: String
        let transcript: PairingTranscript
    }

    struct Established: Sendable {
        let controller: String
        let authority: AuthorityID
        let actor: AuditActor
        var role: Role
        var events = EventLane.closed
        var states = StateLane.closed
        /// The number of commands whose outcome this session waits for.
        var requestsInFlight = 0
        /// The first fetch is being answered, the others wait. Limited by ``PlugWire/fetchesInFlight``.
        var fetches: Deque<Fetch> = []
        var acknowledged: SequenceNumber?
        /// True while a request for the audit log is unanswered.
        var awaitsAudit = false
        /// True while a ManageHomeKit is unanswered.
        var awaitsHomeKit = false
        /// True while a ManageMatter is unanswered.
        var awaitsMatter = false
        /// True while a ManageUpdate is unanswered.
        var awaitsUpdate = false
        /// True while a ManageWifi is unanswered.
        var awaitsWiFi = false
        /// True while a factory reset is unanswered.
        var awaitsReset = false
    }

    enum EventLane: Sendable {
        case closed
        /// All events up to the cursor were sent.
        case open(cursor: SequenceNumber)
    }

    enum StateLane: Sendable {
        case closed
        case open(StateSubscription)
    }

    struct Pause: Sendable {
        /// The time at which the next message may be read.
        var until: Instant
        /// The time at which the session began to wait for its next message.
        let since: Instant
    }

    /// A FetchSamples in progress: the samples that are not yet sent, from `from` to `to`.
    struct Fetch: Sendable {
        let id: UInt32
        var from: Instant
        let to: Instant
        /// True after the shell was asked for the chunk at `from`, until it answers.
        var asked = false
    }

    let connection: ConnectionID
    let peer: String
    /// The controller's key, which TLS verified.
    let key: PublicKey
    /// The plug's nonce for this connection.
    let nonce: [UInt8]
    /// False if the controller is in another network.
    let isLocal: Bool
    var phase: Phase
    /// The position in the log, or nil if the session does not follow it.
    var log: LogCursor?
    var decoder = FrameDecoder()
    /// Set while messages wait because the controller has sent too many.
    var pause: Pause?
    private var output = FrameEncoder()
    private(set) var writable = true
    /// The number of bytes that were passed to the connection since it stopped being writable.
    private(set) var unsentBytes = 0
    var lastReceived: Instant
    private var lastSent: Instant
    private var pings: UInt64 = 0

    init(_ opening: PlugServer.Opening, now: Instant) {
        connection = opening.connection
        peer = opening.peer
        key = opening.key
        nonce = opening.nonce
        isLocal = opening.isLocal
        phase = .awaitingHello(since: now)
        lastReceived = now
        lastSent = now
    }

    mutating func setWritable(_ writable: Bool) {
        self.writable = writable
        if writable { unsentBytes = 0 }
    }

    /// Appends a message to the output, which ``takeOutput(now:)`` returns.
    mutating func say(_ fill: (inout WirePlugMessage) -> Void) {
        var message = WirePlugMessage()
        fill(&message)
        output.append(message)
    }

    var isEstablished: Bool {
        if case .established = phase { true } else { false }
    }

    var awaitsReset: Bool {
        guard case .established(let established) = phase else { return false }
        return established.awaitsReset
    }

    mutating func say(frame: [UInt8]) { output.append(frame: frame) }

    var outputBytes: Int { output.bytes.count }

    /// Changes the number of commands whose outcome this session waits for.
    mutating func waits(forRequests change: Int) {
        guard case .established(var established) = phase else { return }
        established.requestsInFlight += change
        phase = .established(established)
    }

    /// The number of unfinished fetches.
    var fetchCount: Int {
        guard case .established(let established) = phase else { return 0 }
        return established.fetches.count
    }

    /// Changes the role. It applies from the next message on.
    mutating func apply(role: Role) {
        guard case .established(var established) = phase else { return }
        established.role = role
        phase = .established(established)
    }

    /// Returns the output since the last call and removes it. Returns nil if the output is empty.
    mutating func takeOutput(now: Instant) -> [UInt8]? {
        guard !output.bytes.isEmpty else { return nil }
        let bytes = output.take()
        lastSent = now
        if !writable { unsentBytes += bytes.count }
        return bytes
    }

    /// Sends Ping if this side has been silent for the ping interval.
    mutating func keepAlive(now: Instant) {
        guard let pingAt, pingAt <= now else { return }
        pings += 1
        let token = pings
        say { $0.ping.token = token }
    }

    /// The time of the next Ping. Nil before Hello, and while the connection is not writable: the bytes that wait there
    /// already show the peer that this side is alive.
    private var pingAt: Instant? {
        guard writable, case .established = phase else { return nil }
        return lastSent + PlugWire.pingInterval
    }

    /// The time at which silence ends the session. Before Hello, received bytes do not extend it, so that a peer cannot
    /// keep its session by sending single bytes.
    var silentAt: Instant {
        switch phase {
        case .awaitingHello(let since), .challenged(let since, _), .proving(let since, _, _):
            since + PlugWire.silenceLimit
        case .established: lastReceived + PlugWire.silenceLimit
        }
    }

    func nextDeadline(state: PlugState) -> Instant? {
        var deadline = sooner(sooner(silentAt, pingAt), sooner(log?.until, pause?.until))
        if writable, case .established(let established) = phase, case .open(let subscription) = established.states {
            deadline = sooner(deadline, subscription.due(state))
        }
        return deadline
    }

    var summary: PlugServer.Connection {
        var summary = PlugServer.Connection(id: connection, peer: peer)
        if case .established(let established) = phase {
            summary.controller = established.controller
            summary.acknowledged = established.acknowledged
            if case .open(let cursor) = established.events { summary.cursor = cursor }
        }
        return summary
    }
}

/// The state lane of a session: the last sent state and the conditions for the next one.
struct StateSubscription: Sendable {
    let deadBandMilliwatts: UInt32
    let interval: Duration
    var sent: PlugState
    var sentAt: Instant

    /// Returns the time at which the state must be sent, or nil if it equals the last sent one.
    ///
    /// The result is a past time if relay or level changed, if the power changed by at least the dead band, or if one
    /// of the two states has no reading. Any other change waits until the interval since the last sent state has
    /// passed.
    func due(_ state: PlugState) -> Instant? {
        guard state != sent else { return nil }
        guard state.relayOn == sent.relayOn, state.level == sent.level, let new = state.reading, let old = sent.reading
        else { return sentAt }
        let moved = abs(Int64(new.deciwatts) - Int64(old.deciwatts)) * 100
        return moved >= Int64(deadBandMilliwatts) ? sentAt : sentAt + interval
    }
}
