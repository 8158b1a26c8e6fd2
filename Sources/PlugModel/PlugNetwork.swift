public import ProtocolCore

/// A network interface of a plug and the source of its addresses, for diagnosis.
public struct PlugNetwork: Hashable, Sendable {
    /// A lease from a DHCP server.
    public struct Lease: Hashable, Sendable {
        /// The leased address.
        public var address: String
        /// The address of the DHCP server.
        public var server: String
        /// The router that the server named, if any.
        public var router: String?
        /// The expiry time on the clock of the process that holds this value, or nil if the lease never expires.
        public var expires: Instant?

        /// Creates a description of a lease.
        public init(address: String, server: String, router: String?, expires: Instant?) {
            self.address = address
            self.server = server
            self.router = router
            self.expires = expires
        }
    }

    /// The name that the plug's system uses, such as "eth0".
    public var name: String
    /// True if the plug manages the interface's addresses, false if another program does.
    public var isManaged: Bool
    /// The reason for ``isManaged``, as a sentence.
    public var reason: String
    /// The hardware address, such as "02:00:00:00:00:01".
    public var hardwareAddress: String
    /// All IPv4 and IPv6 addresses of the interface.
    public var addresses: [String]
    /// The IPv4 link-local address (RFC 3927), if it is usable.
    public var linkLocal: String?
    /// The current DHCP lease, if any.
    public var lease: Lease?
    /// The number of address conflicts with other hosts since the firmware started.
    public var conflicts: Int

    /// The maximum number of interfaces in a description. A plug has one or two, but a container host can have
    /// hundreds, which would not fit into a message.
    public static let limit = 16
    /// The maximum number of addresses per interface.
    public static let addressLimit = 16

    /// Creates a description of an interface.
    public init(
        name: String, isManaged: Bool, reason: String, hardwareAddress: String, addresses: [String] = [],
        linkLocal: String? = nil, lease: Lease? = nil, conflicts: Int = 0
    ) {
        self.name = name
        self.isManaged = isManaged
        self.reason = reason
        self.hardwareAddress = hardwareAddress
        self.addresses = addresses
        self.linkLocal = linkLocal
        self.lease = lease
        self.conflicts = conflicts
    }
}
