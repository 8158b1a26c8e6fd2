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
    /// The kind of the session: commissioning by PASE, or an operational node by CASE.
    public var kind: SessionKind
    /// True if the request is part of a timed interaction (Matter 8.2.6).
    public var isTimed: Bool
    /// The session of the request.
    public var session: SessionID
    /// The challenge of the session for attestation and certificate signing requests (Matter 4.14.1.2).
    public var attestationChallenge: [UInt8]
    /// The accessing fabric: nil in a PASE session before AddNOC, and the new fabric afterwards.
    public var fabric: UInt8?

    /// Creates an accessor. Without `fabric`, the fabric is the one of an operational session.
    public init(
        kind: SessionKind, isTimed: Bool = false, session: SessionID, attestationChallenge: [UInt8] = [],
        fabric: UInt8? = nil
    ) {
        (self.kind, self.isTimed, self.session) = (kind, isTimed, session)
        self.attestationChallenge = attestationChallenge
        switch kind {
        case .commissioning: self.fabric = fabric
        case .operational(let peer): self.fabric = fabric ?? peer.fabric
        }
    }

    /// The accessor without the challenge, which is secret.
    public var description: String { "\(session), \(kind)\(isTimed ? ", timed" : "")" }
}
