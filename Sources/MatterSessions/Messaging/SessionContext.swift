/// Identifies a session of a ``MessageLayer``.
public enum SessionID: Hashable, Sendable, CustomStringConvertible {
    /// A secure session, with the session id that this node chose.
    case secure(UInt16)
    /// The messages of a handshake, which are not encrypted, with the initiator's ephemeral node id (Matter 4.14).
    case unsecured(UInt64)

    public var description: String {
        switch self {
        case .secure(let id): "session \(id)"
        case .unsecured(let node): "unsecured session \(String(node, radix: 16))"
        }
    }
}

/// The properties of the session that a message belongs to.
public struct SessionContext: Hashable, Sendable, CustomStringConvertible {
    /// The id of the session.
    public var id: SessionID
    /// The kind of a secure session, or nil if messages are not encrypted.
    public var kind: SessionKind?
    /// The address of the session's latest authenticated message.
    public var peer: MatterPeer
    /// The challenge that attestation and certificate requests sign; empty if messages are not encrypted.
    public var attestationChallenge: [UInt8]

    /// Creates a context.
    public init(id: SessionID, kind: SessionKind?, peer: MatterPeer, attestationChallenge: [UInt8]) {
        (self.id, self.kind, self.peer) = (id, kind, peer)
        self.attestationChallenge = attestationChallenge
    }

    /// The context without the challenge, which is secret.
    public var description: String { "\(id) with \(peer)" }
}
