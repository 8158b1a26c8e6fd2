/// The access rights of a controller at a plug. The plug stores the role with the controller's key.
public enum Role: String, CaseIterable, Sendable {
    /// May do everything, including changes of the name, the settings and the access rights, and the factory reset.
    case owner
    /// Switches and dims the plug, identifies it, resets its protection, and has a viewer's rights.
    case user
    /// Follows events, states and readings and fetches samples. Cannot change anything except its own key and its own
    /// pairing.
    case viewer
    /// A user whose access expires.
    case guest

    /// The role with its article, such as "an owner".
    public var described: String { (self == .owner ? "an " : "a ") + rawValue }
}

/// A role and its time limit.
public struct Grant: Hashable, Sendable {
    /// The valid range of a time limit in seconds: one minute to one year.
    public static let times: ClosedRange<UInt32> = 60...31_536_000

    /// The granted role.
    public let role: Role
    /// The time limit in seconds, or nil for no limit.
    public let seconds: UInt32?

    /// Creates a grant.
    ///
    /// - Throws: ``GrantError`` if an owner has a time limit, a guest has none, or the limit is outside ``times``.
    public init(_ role: Role, seconds: UInt32? = nil) throws(GrantError) {
        switch (role, seconds) {
        case (.owner, .some): throw .ownerWithEnd
        case (.guest, nil): throw .guestWithoutEnd
        case (_, let seconds?) where !Self.times.contains(seconds): throw .time
        case (.owner, nil), (.user, _), (.viewer, _), (.guest, .some): break
        }
        self.role = role
        self.seconds = seconds
    }

    private init() {
        role = .owner
        seconds = nil
    }

    /// An owner without a time limit.
    public static let owner = Grant()
}

/// The reason why a grant is invalid.
public enum GrantError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An owner with a time limit, a guest without one, and a limit outside ``Grant/times``.
    case ownerWithEnd, guestWithoutEnd, time

    public var description: String {
        switch self {
        case .ownerWithEnd: "An owner cannot have a time limit."
        case .guestWithoutEnd: "A guest needs a time limit."
        case .time: "The time limit of a role is 1 minute to 1 year."
        }
    }
}
