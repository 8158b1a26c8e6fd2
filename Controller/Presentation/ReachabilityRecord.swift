import PlugModel

/// The result of mapping a plug's port at its router, in the output of `plugctl info --json`.
public struct ReachabilityRecord: Codable, Hashable, Sendable {
    /// The external address; omitted if the router does not map the port.
    public var address: String?
    /// The external TCP port; omitted if the router does not map the port.
    public var port: UInt16?
    /// True if hosts on the internet can connect; false if they cannot, because a second router follows or because the
    /// router does not map the port.
    public var `public`: Bool
    /// The reason why the router does not map the port.
    public var reason: String?
    /// The hint for the user, if there is one.
    public var hint: String?

    init(_ reachability: Reachability) {
        switch reachability {
        case .mapped(let address, let port, let isPublic):
            (self.address, self.port, self.public) = (address, port, isPublic)
        case .unmapped(let reason, let hint): (self.public, self.reason, self.hint) = (false, reason, hint)
        }
    }

    /// Text for the user.
    var lines: [String] {
        guard let address, let port else {
            return ["  internet      port not mapped: \(reason ?? "")"] + (hint.map { ["    hint        \($0)"] } ?? [])
        }
        return [
            `public`
                ? "  internet      reachable at \(address) port \(port)"
                : "  internet      not reachable: the router has the private address \(address), so a second router follows"
        ]
    }
}
