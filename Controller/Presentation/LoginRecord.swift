public import PlugModel

/// A session of the dashboard: an object of `/api/v1/sessions`, and a line of `plugctl daemon sessions --json`.
public struct LoginRecord: Codable, Hashable, Sendable {
    /// By which it is ended; no secret.
    public var id: String
    /// What the password is called with which it was begun.
    public var name: String
    /// owner, user, viewer or guest.
    public var role: String
    /// What its browser says that it is.
    public var device: String
    /// From which it was used last.
    public var address: String
    /// When it was begun, was used last, and ends by itself: ISO 8601, UTC, milliseconds.
    public var since: String
    public var lastUsed: String
    public var until: String
    /// The one that asked; `self` in JSON.
    public var isAsker: Bool

    private enum CodingKeys: String, CodingKey {
        case id, name, role, device, address, since, lastUsed, until
        case isAsker = "self"
    }

    public init(
        id: String, name: String, role: Role, device: String, address: String, since: String, used: String,
        until: String, isAsker: Bool
    ) {
        self.id = id
        self.name = name
        self.role = role.rawValue
        self.device = device
        self.address = address
        self.since = since
        lastUsed = used
        self.until = until
        self.isAsker = isAsker
    }

    /// For a person.
    ///
    /// - Parameter local: the time on the clock of the wall.
    public func text(local: (String) -> String) -> String {
        let who = name == role ? role : "\(name), \(role)"
        return "\(id)  \(who)  \(device) at \(address), since \(local(since)), last used \(local(lastUsed))"
    }
}
