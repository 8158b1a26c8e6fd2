public import MatterSessions

/// The privileges of the access control list (Matter 6.6.2.3). A higher privilege includes all lower ones, except that
/// `proxyView` only includes `view`.
public enum Privilege: UInt8, Comparable, Hashable, Sendable {
    case view = 1
    case proxyView = 2
    case operate = 3
    case manage = 4
    case administer = 5

    public static func < (left: Privilege, right: Privilege) -> Bool { left.rawValue < right.rawValue }
}

/// The peer on whose behalf an attribute is read or written or a command is invoked.
public struct Accessor: Hashable, Sendable, CustomStringConvertible {
    /// The way in which the peer was authenticated (Matter 6.6.2.1).
    public enum Kind: Hashable, Sendable {
        /// By the passcode, in a PASE session.
        case commissioning
        /// By its operational certificate, in a CASE session.
        case operational(OperationalPeer)
        /// By the key of a group.
        case group(GroupSender)
    }

    /// The way in which the peer was authenticated.
    public var kind: Kind
    /// True if the request is part of a timed interaction (Matter 8.2.6).
    public var isTimed: Bool
    /// The session of the request, or nil for a message to a group.
    public var session: SessionID?
    /// The challenge of the session for attestation and certificate signing requests (Matter 4.14.1.2).
    public var attestationChallenge: [UInt8]
    /// The accessing fabric: nil in a PASE session before AddNOC, and the new fabric afterwards.
    public var fabric: UInt8?

    /// Creates the accessor of a session. Without `fabric`, the fabric is the one of an operational session.
    public init(
        kind: SessionKind, isTimed: Bool = false, session: SessionID, attestationChallenge: [UInt8] = [],
        fabric: UInt8? = nil
    ) {
        (self.isTimed, self.session, self.attestationChallenge) = (isTimed, session, attestationChallenge)
        switch kind {
        case .commissioning: (self.kind, self.fabric) = (.commissioning, fabric)
        case .operational(let peer): (self.kind, self.fabric) = (.operational(peer), fabric ?? peer.fabric)
        }
    }

    /// Creates the accessor of a message to a group.
    public init(_ sender: GroupSender) {
        (kind, isTimed, session, attestationChallenge) = (.group(sender), false, nil, [])
        fabric = sender.fabric
    }

    /// The accessor without the challenge, which is secret.
    public var description: String { "\(session.map { "\($0), " } ?? "")\(kind)\(isTimed ? ", timed" : "")" }
}
