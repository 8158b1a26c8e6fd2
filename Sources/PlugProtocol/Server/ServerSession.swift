internal import DequeModule
import PlugModel
internal import ProtocolCore

/// The plug's view of one connection.
struct ServerSession: Sendable {
    enum Phase: Sendable {
        /// Connected; nothing but Hello and PairingRequest is allowed.
        case awaitingHello(since: Instant)
        /// The challenge is out; nothing but the proof is allowed.
        case challenged(since: Instant, Pairing)
        /// The proof came at that moment and is looked at when the gate allows.
        case proving(since: Instant, Pairing, proof: [UInt8])
        case established(Established)
    }

    struct Pairing: Sendable {
        /// The controller's own name for itself.
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
        /// Commands whose outcome this session waits for.
        var requestsInFlight = 0
        /// The first is being answered, the others wait; bounded by ``PlugWire/fetchesInFlight``.
        var fetches: Deque<Fetch> = []
        var acknowledged: SequenceNumber?
        /// It asked for a part of the audit log.
        var awaitsAudit = false
        /// A ManageHomeKit is not answered yet.
        var awaitsHomeKit = false
        /// It asked for a factory reset.
        var awaitsReset = false
    }

    enum EventLane: Sendable {
        case closed
        /// Everything up to the cursor was sent.
        case open(cursor: SequenceNumber)
    }

    enum StateLane: Sendable {
        case closed
        case open(StateSubscription)
    }

    /// A cursor into the plug's samples.
    struct Fetch: Sendable {
        let id: UInt32
        var from: Instant
        let to: Instant
        /// The shell was asked for the chunk at `from` and has not answered.
        var asked = false
    }

    let connection: ConnectionID
    let peer: String
    /// The controller's, as TLS verified it.
    let key: PublicKey
    /// For pairing on this connection.
    let nonce: [UInt8]
    var phase: Phase
    /// Where it is in the log; nil while it does not follow.
    var log: LogCursor?
    var decoder = FrameDecoder()
    private var output = FrameEncoder()
    private(set) var writable = true
    /// Bytes handed over since the connection stopped being writable.
    private(set) var unsentBytes = 0
    var lastReceived: Instant
    private var lastSent: Instant
    private var pings: UInt64 = 0

    init(_ opening: PlugServer.Opening, now: Instant) {
        connection = opening.connection
        peer = opening.peer
        key = opening.key
        nonce = opening.nonce
        phase = .awaitingHello(since: now)
        lastReceived = now
        lastSent = now
    }

    mutating func setWritable(_ writable: Bool) {
        self.writable = writable
        if writable { unsentBytes = 0 }
    }

    /// Puts a message behind what goes out at the end of this step.
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

    /// Counts the commands whose outcome this session waits for.
    mutating func waits(forRequests change: Int) {
        guard case .established(var established) = phase else { return }
        established.requestsInFlight += change
        phase = .established(established)
    }

    /// Fetches that wait for their last chunk.
    var fetchCount: Int {
        guard case .established(let established) = phase else { return 0 }
        return established.fetches.count
    }

    /// Another role, from the next message on.
    mutating func take(role: Role) {
        guard case .established(var established) = phase else { return }
        established.role = role
        phase = .established(established)
    }

    /// What goes out; nil where there is nothing.
    mutating func takeOutput(now: Instant) -> [UInt8]? {
        guard !output.bytes.isEmpty else { return nil }
        let bytes = output.take()
        lastSent = now
        if !writable { unsentBytes += bytes.count }
        return bytes
    }

    /// Asks for a sign of life where this side has been silent for long.
    mutating func keepAlive(now: Instant) {
        guard let pingAt, pingAt <= now else { return }
        pings += 1
        let token = pings
        say { $0.ping.token = token }
    }

    /// Nil before Hello, and while earlier bytes still wait to go out: they say as much as a ping.
    private var pingAt: Instant? {
        guard writable, case .established = phase else { return nil }
        return lastSent + PlugWire.pingInterval
    }

    /// When the session ends for want of a word from the peer. Before Hello bytes alone do not count, so that nobody keeps
    /// a place by trickling them.
    var silentAt: Instant {
        switch phase {
        case .awaitingHello(let since), .challenged(let since, _), .proving(let since, _, _):
            since + PlugWire.silenceLimit
        case .established: lastReceived + PlugWire.silenceLimit
        }
    }

    func nextDeadline(state: PlugState) -> Instant? {
        var deadline = sooner(sooner(silentAt, pingAt), log?.until)
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

/// The state lane of one session: what it was told last, and when it wants to hear again.
struct StateSubscription: Sendable {
    let deadBandMilliwatts: UInt32
    let interval: Duration
    var sent: PlugState
    var sentAt: Instant

    /// When the state is to be sent; nil while it is what was sent last.
    func due(_ state: PlugState) -> Instant? {
        guard state != sent else { return nil }
        guard state.relayOn == sent.relayOn, state.level == sent.level, let new = state.reading, let old = sent.reading
        else { return sentAt }
        let moved = abs(Int64(new.deciwatts) - Int64(old.deciwatts)) * 100
        return moved >= Int64(deadBandMilliwatts) ? sentAt : sentAt + interval
    }
}
