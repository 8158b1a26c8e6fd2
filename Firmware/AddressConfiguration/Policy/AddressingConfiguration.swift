public import DNSWire
public import LinkWire

extension InterfaceAddressing {
    /// What is known of the interface before anything happens on it.
    public struct Configuration: Hashable, Sendable {
        public var hardwareAddress: MACAddress
        /// Told to DHCP servers (option 12), which may enter it in a name server.
        public var hostName: String
        /// RFC 4361: stays the same whatever card is in.
        public var clientIdentifier: [UInt8]
        public var remembered: RememberedAddresses
        /// Of those remembered, what the kernel still has from a plugd that ran before: kept while it is verified, so that a
        /// restart cuts nobody off, and removed if it does not stand.
        public var inherited: Set<IPv4Address>
        /// The host has just got its power, and so perhaps a whole house of hosts: the first DHCP message is spread.
        public var isPowerOn: Bool
        /// Of the routes that a lease brings; smaller on the interface that is to be preferred. Those of a link-local address come
        /// behind the ones of all leases.
        public var routeMetric: UInt32
        public var seed: UInt64

        public init(
            hardwareAddress: MACAddress, hostName: String, clientIdentifier: [UInt8],
            remembered: RememberedAddresses = RememberedAddresses(), inherited: Set<IPv4Address> = [],
            isPowerOn: Bool = false, routeMetric: UInt32 = 100, seed: UInt64
        ) {
            self.hardwareAddress = hardwareAddress
            self.hostName = hostName
            self.clientIdentifier = clientIdentifier
            self.remembered = remembered
            self.inherited = inherited
            self.isPowerOn = isPowerOn
            self.routeMetric = routeMetric
            self.seed = seed
        }
    }
}
