public import PlugModel

/// A session of the dashboard: an object of `/api/v1/sessions`, and a line of `plugctl daemon sessions --json`.
public struct LoginRecord: Codable, Hashable, Sendable {
    /// The id for ending the session. It is not secret.
    public var id: String
    /// The name of the password that started the session.
    public var name: String
    /// The password's role: owner, user, viewer or guest.
    public var role: String
    /// The device according to its browser.
    public var device: String
    /// The client's address at the last use of the session.
    public var address: String
    /// The start of the session: ISO 8601, UTC, milliseconds.
    public var since: String
    /// The time of the last use, in the same format.
    public var lastUsed: String
    /// The time at which the session ends, in the same format.
    public var until: String
    /// True for the session of the request; `self` in JSON.
    public var isAsker: Bool

    private enum CodingKeys: String, CodingKey {
        case id, name, role, device, address, since, lastUsed, until
        case isAsker = "self"
    }

    /// Creates a record.
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

    /// Text for the user.
    ///
    /// - Parameter local: returns the time on the local wall clock.
    public func text(local: (String) -> String) -> String {
        let who = name == role ? role : "\(name), \(role)"
        return "\(id)  \(who)  \(device) at \(address), since \(local(since)), last used \(local(lastUsed))"
    }
}
