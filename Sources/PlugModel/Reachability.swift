/// The result of mapping a plug's port at its router, so that hosts in other networks can connect.
public enum Reachability: Hashable, Sendable {
    /// The router forwards connections from this external address and port to the plug. If `isPublic` is false, the
    /// address is private because a second router follows, and hosts on the internet cannot connect.
    case mapped(address: String, port: UInt16, isPublic: Bool)
    /// The router does not forward connections. The hint, if any, is for the user.
    case unmapped(reason: String, hint: String?)

    /// The maximum number of results of a plug: one per IP family.
    public static let limit = 2

    /// The address and the port at which hosts on the internet can connect, such as "198.51.100.7 port 4711"; nil if
    /// they cannot.
    public var publicPlace: String? {
        guard case .mapped(let address, let port, isPublic: true) = self else { return nil }
        return "\(address) port \(port)"
    }
}
