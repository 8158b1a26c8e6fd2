public import DNSWire

extension InterfaceAddressing {
    /// The initial data of the interface.
    public struct Configuration: Hashable, Sendable {
        /// The address of the network card.
        public var hardwareAddress: MACAddress
        /// The host name for DHCP servers (option 12), which may register it in a name server.
        public var hostName: String
        /// The client identifier (RFC 4361), which is independent of the card.
        public var clientIdentifier: [UInt8]
        /// The address that an owner chose; nil for one from a DHCP server.
        public var fixed: FixedAddress?
        /// The addresses that a previous run stored.
        public var remembered: RememberedAddresses
        /// The addresses of a previous plugd that the kernel still has. They are kept while they are verified, so that
        /// a restart does not interrupt connections, and removed if the verification fails.
        public var inherited: Set<IPv4Address>
        /// True if the host was just powered on, possibly together with a whole house of hosts. The first DHCP message
        /// is then delayed randomly.
        public var isPowerOn: Bool
        /// The metric of a lease's routes; smaller on the preferred interface. Routes of link-local addresses come
        /// after those of all leases.
        public var routeMetric: UInt32
        /// The seed for random delays.
        public var seed: UInt64

        /// Creates a configuration.
        public init(
            hardwareAddress: MACAddress, hostName: String, clientIdentifier: [UInt8],
            fixed: FixedAddress? = nil, remembered: RememberedAddresses = RememberedAddresses(),
            inherited: Set<IPv4Address> = [],
            isPowerOn: Bool = false, routeMetric: UInt32 = 100, seed: UInt64
        ) {
            self.hardwareAddress = hardwareAddress
            self.hostName = hostName
            self.clientIdentifier = clientIdentifier
            self.fixed = fixed
            self.remembered = remembered
            self.inherited = inherited
            self.isPowerOn = isPowerOn
            self.routeMetric = routeMetric
            self.seed = seed
        }
    }
}
