public import DNSWire
public import ProtocolCore

/// An address from a DHCP server, with the server's network data. All data is validated: invalid parts are omitted or
/// replaced by the RFC's defaults.
public struct DHCPLease: Hashable, Sendable {
    /// The leased address.
    public var address: IPv4Address
    /// The length of the network part in bits.
    public var prefixLength: UInt8
    /// The broadcast address of the network; 255.255.255.255 for a prefix of 31 or 32 bits, which leaves no room for
    /// one.
    public var broadcast: IPv4Address
    /// The server that assigned the address (option 54).
    public var server: IPv4Address
    /// The default routers, preferred one first: option 3, or the default routes of option 121 if that is present (RFC
    /// 3442). Each one is on the link by the prefix or by one of ``routes`` without a router. With a prefix of 32 bits
    /// nothing is on the link, so the router needs its own route.
    public var routers: [IPv4Address]
    /// The other routes of option 121, those without a router first because others may depend on them.
    public var routes: [ClasslessRoute]
    /// The name servers, time servers and domains of the network.
    public var servers: NetworkServers
    /// The lease time from ``obtained`` on; nil if the lease never expires.
    public var duration: Duration?
    /// The time until the server is asked to renew the lease (T1); nil for never.
    public var renewal: Duration?
    /// The time until any server is asked (T2), later than ``renewal`` and before the end; nil for never.
    public var rebinding: Duration?
    /// The time at which the acknowledged request was sent (RFC 2131 §4.4.1).
    public var obtained: Instant

    /// The time at which the lease expires, or nil.
    public var expires: Instant? { duration.map { obtained + $0 } }

    /// Creates a lease from validated values.
    public init(
        address: IPv4Address, prefixLength: UInt8, broadcast: IPv4Address, server: IPv4Address,
        routers: [IPv4Address] = [], routes: [ClasslessRoute] = [], servers: NetworkServers = NetworkServers(),
        duration: Duration?, renewal: Duration?, rebinding: Duration?, obtained: Instant
    ) {
        self.address = address
        self.prefixLength = prefixLength
        self.broadcast = broadcast
        self.server = server
        self.routers = routers
        self.routes = routes
        self.servers = servers
        self.duration = duration
        self.renewal = renewal
        self.rebinding = rebinding
        self.obtained = obtained
    }
}
