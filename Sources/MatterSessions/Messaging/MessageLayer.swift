internal import MatterWire
public import ProtocolCore

/// All sessions and exchanges of a node: encryption, message counters, reliable messages and their acknowledgements
/// (Matter 4.4 to 4.14), and the messages to its groups (Matter 4.16).
///
/// The caller delivers datagrams with ``receive(_:from:now:)``, calls ``expire(now:)`` at ``nextDeadline``, and performs
/// the outputs in order. Each reliable message is reported as acknowledged or failed, unless the caller closed its
/// exchange. A message that was not sent by a peer of a session, or that was changed, has no effect. The handshakes of
/// unpaired peers have separate limits, so they do not affect secure sessions.
public struct MessageLayer: Sendable {
    /// The limits of the layer.
    public enum Limits {
        /// The number of secure sessions: 3 for each of 5 fabrics, and one of a commissioner.
        public static let sessions = 16
        /// The sessions that a fabric keeps if others need room (Matter 4.13.2.8).
        public static let sessionsPerFabric = 3
        /// The sessions that commissioners keep if others need room.
        public static let commissioningSessions = 1
        /// The number of exchanges of secure sessions. It limits the memory of unfinished interactions.
        public static let exchanges = 32
        /// The number of exchanges that all peers of secure sessions can open. The others remain for this node's reports.
        public static let incomingExchanges = 24
        /// The number of exchanges that the peer of one session can open, so that no peer can occupy all incoming
        /// exchanges.
        public static let exchangesPerSession = 8
        /// The number of handshakes of peers without a session. It limits the memory and time that strangers can use.
        public static let handshakes = 4
        /// The time after which a handshake without messages is removed if a different host needs its place.
        public static let handshakeIdleTime = Duration.seconds(10)
        /// The time after which a handshake without messages has failed.
        public static let handshakeTime = Duration.seconds(30)
        /// The time after which an exchange without messages has failed. A timed interaction lasts up to 65.5 s.
        public static let exchangeIdleTime = Duration.seconds(70)
        /// The number of messages of an exchange that wait for an acknowledgement of an earlier message.
        public static let waitingMessages = 4
        /// The number of message counters below the highest one whose messages are accepted (Matter 4.6.5).
        public static let window: UInt32 = 32
        /// The number of senders to groups whose counters are remembered. The one that was silent longest is forgotten
        /// first; its next message is trusted like that of a new sender.
        public static let groupSenders = 32
        /// The size of a datagram (Matter 4.4.4). It protects against large messages that no sender needs.
        public static let datagram = 1280
    }

    /// The largest payload of one message. With all headers and the tag, the datagram fits the minimum MTU of IPv6.
    public static let payloadLimit = 1194

    /// A result of an operation. The caller handles outputs in order.
    public enum Output: Hashable, Sendable {
        /// Sends a datagram.
        case send([UInt8], to: MatterPeer)
        /// A new message was received.
        case message(IncomingMessage)
        /// A new message to a group was received.
        case groupMessage(GroupMessage)
        /// The peer acknowledged the message that was sent on this exchange.
        case acknowledged(ExchangeID)
        /// The exchange has ended, because a message was not acknowledged after 5 transmissions, no message arrived in
        /// time, its session ended, or a message could not be sent.
        case failed(ExchangeID)
        /// The secure session has ended: the peer closed it, a newer session needed its place, or
        /// ``end(where:notifying:now:)`` was called.
        case sessionEnded(SessionID)
    }

    let cryptography: any MatterCryptography
    var randomness: MatterRandomness
    /// For jitter, which need not be secret.
    var jitter: SeededRandom
    var secureSessions: SessionTable
    var unsecuredSessions = UnsecuredSessionTable()
    var exchanges: ExchangeTable
    var unsecuredCounter: MessageCounter
    var groups = GroupReceiver()
    /// The latest time that was passed to the layer.
    var time = Instant.zero

    /// Creates a layer without sessions.
    public init(cryptography: any MatterCryptography, randomness: MatterRandomness) {
        self.cryptography = cryptography
        var randomness = randomness
        jitter = SeededRandom(seed: randomness.integer())
        secureSessions = SessionTable(&randomness)
        exchanges = ExchangeTable(&randomness)
        unsecuredCounter = MessageCounter(&randomness, wraps: true)
        self.randomness = randomness
    }

    /// The keys of messages to groups. A message that no key can decrypt has no effect.
    public var groupKeys: [GroupKey] {
        get { groups.keys }
        set { groups.keys = newValue }
    }

    /// The secure sessions, in the order in which they were added.
    public var sessions: [SessionContext] { secureSessions.contexts }

    /// The number of exchanges, which is at most ``Limits/exchanges`` + ``Limits/handshakes``.
    public var exchangeCount: Int { exchanges.count }

    /// The number of handshakes of peers without a session, at most ``Limits/handshakes``. Finished handshakes are
    /// counted until ``Limits/handshakeIdleTime`` has passed.
    public var handshakeCount: Int { unsecuredSessions.count }

    /// The time at which ``expire(now:)`` has to be called, or nil if nothing is due.
    public var nextDeadline: Instant? {
        sooner(exchanges.deadline, unsecuredSessions.deadline(hasExchange: exchanges.hasExchange(on:)))
    }

    /// Retransmits messages, acknowledges messages that were not answered in time, and removes idle exchanges.
    public mutating func expire(now: Instant) -> [Output] {
        time = max(time, now)
        var outputs: [Output] = []
        for id in exchanges.due(now: now) { outputs += expire(id, now: now) }
        unsecuredSessions.removeFinished(now: now, hasExchange: exchanges.hasExchange(on:))
        return outputs
    }

    private mutating func expire(_ id: ExchangeID, now: Instant) -> [Output] {
        var outputs = acknowledgeAlone(id, ifDueAt: now, now: now)
        guard var exchange = exchanges[id] else { return outputs }
        if let retransmission = exchange.inFlight {
            guard retransmission.deadline <= now else { return outputs }
            guard let peer = peer(of: exchange.session),
                let datagram = exchange.retransmit(
                    interval: interval(of: exchange.session, now: now), random: &jitter, now: now)
            else { return outputs + fail(id, now: now) }
            exchanges[id] = exchange
            outputs.append(.send(datagram, to: peer))
        } else if let deadline = exchange.idleDeadline, deadline <= now {
            outputs += fail(id, now: now)
        }
        return outputs
    }

    // MARK: - Sessions

    /// Returns a session id that is not in use, for a handshake.
    public mutating func reserveSessionID() -> UInt16 { secureSessions.reserveID() }

    /// Adds the session of a finished handshake. If the table is full, a session ends: the least recently used one of
    /// the fabric that exceeds its share the most.
    public mutating func add(_ session: NewSession, peer: MatterPeer, now: Instant) -> [Output] {
        time = max(time, now)
        var outputs = endSession(session.localID, notifying: false, now: now)
        let added = SecureSession(session, peer: peer, counter: MessageCounter(&randomness), now: now)
        if let victim = secureSessions.victim(for: added.owner) {
            outputs += endSession(victim, notifying: true, now: now)
        }
        secureSessions.add(added)
        return outputs
    }

    /// Ends secure sessions and their exchanges, even if messages are in flight.
    ///
    /// - Parameter notifying: true to send CloseSession to the peers (Matter 4.11.1.4).
    public mutating func end(
        where isEnding: (SessionContext) -> Bool, notifying: Bool, now: Instant
    ) -> [Output] {
        time = max(time, now)
        var outputs: [Output] = []
        for session in sessions where isEnding(session) {
            guard case .secure(let id) = session.id else { continue }
            outputs += endSession(id, notifying: notifying, now: now)
        }
        return outputs
    }

    /// Ends a session, if it exists.
    mutating func endSession(_ id: UInt16, notifying: Bool, now: Instant) -> [Output] {
        let session = SessionID.secure(id)
        guard let peer = peer(of: session) else { return [] }
        var outputs: [Output] = []
        if notifying {
            let header = ProtocolHeader(
                isInitiator: true, needsAcknowledgement: false, opcode: SecureChannelOpcode.statusReport.rawValue,
                exchange: exchanges.nextNumber(on: session), protocolID: MatterProtocol.secureChannel)
            if let (datagram, _) = encode(header, StatusReport.closeSession.encoded, on: session, now: now) {
                outputs.append(.send(datagram, to: peer))
            }
        }
        for exchange in exchanges.ids(on: session) {
            exchanges[exchange] = nil
            outputs.append(.failed(exchange))
        }
        secureSessions[id] = nil
        return outputs + [.sessionEnded(session)]
    }

    func peer(of session: SessionID) -> MatterPeer? {
        switch session {
        case .secure(let id): secureSessions[id]?.peer
        case .unsecured(let node): unsecuredSessions[node]?.peer
        }
    }

    func interval(of session: SessionID, now: Instant) -> Duration {
        let standard = SessionParameters.standard.activeInterval
        // A peer is active during its handshake.
        guard case .secure(let id) = session else { return standard }
        return secureSessions[id]?.interval(now: now) ?? standard
    }
}
