/// What a controller may do at a plug. The plug keeps it with the controller's key.
public enum Role: String, CaseIterable, Sendable {
    /// Everything: also name, settings, who else may, and the reset.
    case owner
    /// Switches and dims, and sees what a viewer sees.
    case user
    /// Follows events, states and readings and fetches samples, and changes nothing.
    case viewer
    /// A user until a time.
    case guest

    /// With its article: "an owner".
    public var described: String { (self == .owner ? "an " : "a ") + rawValue }
}

/// A role that somebody is given, and for how long.
public struct Grant: Hashable, Sendable {
    /// Seconds that a role may be given for: from a minute to a year.
    public static let times: ClosedRange<UInt32> = 60...31_536_000

    public let role: Role
    /// Nil: without an end.
    public let seconds: UInt32?

    /// - Throws: ``GrantError``: an owner has no end, a guest has one, and it is within ``times``.
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

    public static let owner = Grant()
}

/// Why a role cannot be given so.
public enum GrantError: Error, Hashable, Sendable, CustomStringConvertible {
    case ownerWithEnd, guestWithoutEnd, time

    public var description: String {
        switch self {
        case .ownerWithEnd: "An owner stays one until another owner removes it; it has no end."
        case .guestWithoutEnd: "A guest needs a time at which the visit ends."
        case .time: "A role is given for a minute up to a year."
        }
    }
}
