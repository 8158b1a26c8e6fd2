public import ProtocolCore

/// A network interface of a plug, and where its addresses come from: for people, and for whoever looks for a fault.
public struct PlugNetwork: Hashable, Sendable {
    /// What a DHCP server gave.
    public struct Lease: Hashable, Sendable {
        public var address: String
        public var server: String
        public var router: String?
        /// On the clock of whoever holds this value; nil: for ever.
        public var expires: Instant?

        public init(address: String, server: String, router: String?, expires: Instant?) {
            self.address = address
            self.server = server
            self.router = router
            self.expires = expires
        }
    }

    /// As the plug's system calls it: "eth0".
    public var name: String
    /// The plug gives it its addresses; false: another program does.
    public var isManaged: Bool
    /// Why, as a sentence.
    public var reason: String
    /// "02:00:00:00:00:01".
    public var hardwareAddress: String
    /// All that it has, of both families.
    public var addresses: [String]
    /// That of RFC 3927, while it is usable.
    public var linkLocal: String?
    public var lease: Lease?
    /// With other hosts about addresses, since the plug's start.
    public var conflicts: Int

    /// As many are told of one plug, and so many addresses of each. A plug has one or two; a container host has hundreds, and
    /// they shall not fill a message.
    public static let limit = 16
    public static let addressLimit = 16

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
