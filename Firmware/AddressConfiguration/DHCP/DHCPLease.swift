public import DNSWire
public import LinkWire
public import ProtocolCore

/// An address that a DHCP server gave, and what it said about the network. All of it is sound: what was not is left out or
/// replaced by what the RFC says for its absence.
public struct DHCPLease: Hashable, Sendable {
    public var address: IPv4Address
    /// Bits.
    public var prefixLength: UInt8
    /// Reaches everybody in the network; 255.255.255.255 where the prefix leaves no room for one.
    public var broadcast: IPv4Address
    public var server: IPv4Address
    /// The ways out, the preferred one first: option 3 or, where that is given, the default routes of option 121 (RFC 3442). Each is
    /// on the link by the prefix, or by one of ``routes`` without a router, or the prefix has 32 bits, so that nothing is: then it
    /// needs a route of its own.
    public var routers: [IPv4Address]
    /// The other routes of option 121; those without a router, which others may need, first.
    public var routes: [ClasslessRoute]
    public var servers: NetworkServers
    /// Counted from ``obtained``; nil: for ever.
    public var duration: Duration?
    /// When to ask the server to prolong it (T1); nil: never.
    public var renewal: Duration?
    /// When to ask any server (T2), later than ``renewal`` and before the end; nil: never.
    public var rebinding: Duration?
    /// When the request was sent that the server agreed to (RFC 2131 §4.4.1).
    public var obtained: Instant

    public var expires: Instant? { duration.map { obtained + $0 } }

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
