internal import MatterWire
internal import ProtocolCore

/// The messages of one handshake, which are not encrypted (Matter 4.14).
struct UnsecuredSession: Sendable {
    /// The initiator's ephemeral node id.
    let node: UInt64
    /// True if this node opened the session.
    let isInitiator: Bool
    let peer: MatterPeer
    private var window = ReplayWindow(.restarting)
    /// The time of the last new message or reply.
    private(set) var usedAt: Instant

    init(node: UInt64, isInitiator: Bool, peer: MatterPeer, now: Instant) {
        (self.node, self.isInitiator, self.peer, usedAt) = (node, isInitiator, peer, now)
    }

    var id: SessionID { .unsecured(node) }

    var context: SessionContext { SessionContext(id: id, kind: nil, peer: peer, attestationChallenge: []) }

    func isNew(_ counter: UInt32) -> Bool { window.verdict(of: counter) == .new }

    mutating func accept(_ counter: UInt32, now: Instant) {
        window.record(counter)
        usedAt = now
    }

    mutating func encode(_ plain: [UInt8], counter: UInt32, now: Instant) -> [UInt8] {
        usedAt = now
        let header =
            isInitiator
            ? MessageHeader(sessionID: 0, counter: counter, source: node)
            : MessageHeader(sessionID: 0, counter: counter, destination: .node(node))
        return header.encoded + plain
    }
}

/// The unsecured sessions, at most ``MessageLayer/Limits/handshakes``.
struct UnsecuredSessionTable: Sendable {
    /// In the order in which the sessions were added.
    private var sessions: [UnsecuredSession] = []

    var count: Int { sessions.count }

    subscript(node: UInt64) -> UnsecuredSession? {
        get { sessions.first { $0.node == node } }
        set {
            let index = sessions.firstIndex { $0.node == node }
            switch (index, newValue) {
            case (let index?, let session?): sessions[index] = session
            case (let index?, nil): sessions.remove(at: index)
            case (nil, let session?): sessions.append(session)
            case (nil, nil): break
            }
        }
    }

    /// The decision on a new session.
    enum Admission: Hashable, Sendable {
        case free
        /// The session with this id makes room.
        case replaces(UInt64)
        case full
    }

    /// Decides whether a peer can open a session. A session without an exchange makes room at once. A session with an
    /// exchange makes room only for a different host, and only after ``MessageLayer/Limits/handshakeIdleTime``.
    /// Therefore a host cannot remove its own handshakes quickly to occupy all places with new ones.
    func admission(of peer: MatterPeer, now: Instant, hasExchange: (SessionID) -> Bool) -> Admission {
        guard sessions.count >= MessageLayer.Limits.handshakes else { return .free }
        let oldest = sessions.sorted { $0.usedAt < $1.usedAt }
        if let finished = oldest.first(where: { !hasExchange($0.id) }) { return .replaces(finished.node) }
        let idle = oldest.first {
            $0.usedAt + MessageLayer.Limits.handshakeIdleTime <= now && !$0.peer.isSameHost(as: peer)
        }
        return idle.map { .replaces($0.node) } ?? .full
    }

    /// The time at which ``removeFinished(now:hasExchange:)`` removes the next session, or nil if none is finished.
    func deadline(hasExchange: (SessionID) -> Bool) -> Instant? {
        sessions.filter { !hasExchange($0.id) }.map { $0.usedAt + MessageLayer.Limits.handshakeIdleTime }.min()
    }

    /// Removes sessions without an exchange. They are kept for a while, because a late duplicate of their first message
    /// would otherwise begin a new handshake.
    mutating func removeFinished(now: Instant, hasExchange: (SessionID) -> Bool) {
        sessions.removeAll {
            !hasExchange($0.id) && $0.usedAt + MessageLayer.Limits.handshakeIdleTime <= now
        }
    }
}
