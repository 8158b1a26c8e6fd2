import PlugModel
import ProtocolCore

/// A plug's network interface in the output of `plugctl info --json`.
public struct NetworkRecord: Codable, Hashable, Sendable {
    /// A DHCP lease.
    public struct Lease: Codable, Hashable, Sendable {
        /// The leased address.
        public var address: String
        /// The address of the DHCP server.
        public var server: String
        /// The address of the router; omitted if the server sent none.
        public var router: String?
        /// The remaining time in whole seconds; omitted for an unlimited lease.
        public var expiresIn: Int64?
    }

    /// The name of the interface.
    public var name: String
    /// The plug's role on this interface: manage if the plug manages the addresses, observe if another program does.
    public var role: String
    /// The reason for the role, as a sentence.
    public var reason: String
    /// The MAC address.
    public var hardwareAddress: String
    /// All addresses of the interface.
    public var addresses: [String]
    /// The IPv4 link-local address, if the plug uses one.
    public var linkLocal: String?
    /// The DHCP lease, if there is one.
    public var lease: Lease?
    /// The number of address conflicts with other hosts.
    public var conflicts: Int

    init(_ network: PlugNetwork, now: Instant) {
        name = network.name
        role = network.isManaged ? "manage" : "observe"
        reason = network.reason
        hardwareAddress = network.hardwareAddress
        addresses = network.addresses
        linkLocal = network.linkLocal
        lease = network.lease.map { lease in
            Lease(
                address: lease.address, server: lease.server, router: lease.router,
                expiresIn: lease.expires.map { max(0, ($0 - now).components.seconds) })
        }
        conflicts = network.conflicts
    }

    /// Text for the user.
    var lines: [String] {
        let who = role == "manage" ? "addresses managed by the plug" : "addresses managed by another program"
        var lines = ["  network       \(name) (\(hardwareAddress)), \(who): \(reason)"]
        if let lease {
            let router = lease.router.map { ", router \($0)" } ?? ""
            let time = lease.expiresIn.map { "for \($0) s" } ?? "forever"
            lines.append("    lease       \(lease.address) from \(lease.server), \(time)\(router)")
        }
        if let linkLocal { lines.append("    link-local  \(linkLocal)") }
        if conflicts > 0 { lines.append("    conflicts   \(conflicts)") }
        return lines
    }
}
