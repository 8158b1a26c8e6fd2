public import MatterWire

/// The intervals in which a node retransmits and listens (Matter 4.12.8).
public struct SessionParameters: Hashable, Sendable {
    /// The interval of retransmissions while the node is idle (SESSION_IDLE_INTERVAL).
    public var idleInterval: Duration
    /// The interval of retransmissions while the node is active (SESSION_ACTIVE_INTERVAL).
    public var activeInterval: Duration
    /// The time for which a node stays active after its last message (SESSION_ACTIVE_THRESHOLD).
    public var activeThreshold: Duration

    public init(idleInterval: Duration, activeInterval: Duration, activeThreshold: Duration) {
        self.idleInterval = idleInterval
        self.activeInterval = activeInterval
        self.activeThreshold = activeThreshold
    }

    /// The parameters of a node that sent none.
    public static let standard = SessionParameters(
        idleInterval: .milliseconds(500), activeInterval: .milliseconds(300), activeThreshold: .milliseconds(4000))
}

/// A node of a fabric, as a CASE session has proved it.
public struct OperationalPeer: Hashable, Sendable {
    /// The index of the fabric on this node, from 1 on.
    public var fabric: UInt8
    /// The node id of the peer.
    public var node: UInt64
    /// The CASE authenticated tags of the peer's certificate, at most 3 (Matter 6.6.2.1.2).
    public var tags: [UInt32]

    public init(fabric: UInt8, node: UInt64, tags: [UInt32]) {
        self.fabric = fabric
        self.node = node
        self.tags = tags
    }
}

/// The kind of a secure session.
public enum SessionKind: Hashable, Sendable {
    /// A PASE session: the peer knows the passcode.
    case commissioning
    /// A CASE session: the peer has an operational certificate of a fabric.
    case operational(OperationalPeer)
}

/// The result of a handshake.
public struct NewSession: Hashable, Sendable, CustomStringConvertible {
    /// The session id that the peer sends to.
    public var localID: UInt16
    /// The session id that this node sends to.
    public var peerID: UInt16
    public var kind: SessionKind
    /// True if this node began the handshake.
    public var isInitiator: Bool
    /// The key of outgoing messages, 16 bytes.
    public var sendKey: [UInt8]
    /// The key of incoming messages, 16 bytes.
    public var receiveKey: [UInt8]
    /// The challenge that attestation and certificate requests sign, 16 bytes (Matter 4.14.2.6.1).
    public var attestationChallenge: [UInt8]
    /// The node id of this node; 0 for PASE.
    public var localNode: UInt64
    /// The node id of the peer; 0 for PASE.
    public var peerNode: UInt64
    /// The parameters of the peer.
    public var parameters: SessionParameters

    public init(
        localID: UInt16, peerID: UInt16, kind: SessionKind, isInitiator: Bool, sendKey: [UInt8], receiveKey: [UInt8],
        attestationChallenge: [UInt8], localNode: UInt64, peerNode: UInt64, parameters: SessionParameters
    ) {
        self.localID = localID
        self.peerID = peerID
        self.kind = kind
        self.isInitiator = isInitiator
        self.sendKey = sendKey
        self.receiveKey = receiveKey
        self.attestationChallenge = attestationChallenge
        self.localNode = localNode
        self.peerNode = peerNode
        self.parameters = parameters
    }

    /// The session without its keys.
    public var description: String { "session \(localID) with \(peerID), \(kind)" }
}

/// The result of a message of a handshake. A reply is an opcode of the secure channel protocol and a payload.
public enum HandshakeResult: Sendable {
    /// The handshake continues. The caller sends the reply.
    case reply(SecureChannelOpcode, [UInt8])
    /// The handshake succeeded. The caller adds the session and then sends the reply, if there is one.
    case finished(reply: (SecureChannelOpcode, [UInt8])?, NewSession)
    /// The handshake failed and cannot be continued. The caller sends the reply, if there is one.
    case failed(reply: (SecureChannelOpcode, [UInt8])?, MatterError)
}
