public import DNSWire
public import ProtocolCore

/// The state of an interface's addresses, for `plugd status`, `plugctl info` and the light.
public struct AddressingStatus: Hashable, Sendable {
    public enum LinkLocal: Hashable, Sendable {
        case none
        /// The claim is probing; the address is not usable yet.
        case claiming(IPv4Address)
        case held(IPv4Address)
        /// A lease is preferred. The address is kept for its existing connections.
        case deprecated(IPv4Address)
    }

    public enum DHCP: Hashable, Sendable {
        /// The link is down.
        case off
        /// The client searches for a server, or waits for its answer.
        case searching
        case leased(Lease)
    }

    public struct Lease: Hashable, Sendable {
        public var address: IPv4Address
        public var prefixLength: UInt8
        public var server: IPv4Address
        public var router: IPv4Address?
        /// The end of the lease; nil if it never expires.
        public var expires: Instant?

        public init(
            address: IPv4Address, prefixLength: UInt8, server: IPv4Address, router: IPv4Address?, expires: Instant?
        ) {
            self.address = address
            self.prefixLength = prefixLength
            self.server = server
            self.router = router
            self.expires = expires
        }
    }

    public var linkLocal: LinkLocal
    public var dhcp: DHCP
    /// The number of conflicts since the machine started.
    public var conflicts: Int

    public init(linkLocal: LinkLocal, dhcp: DHCP, conflicts: Int) {
        self.linkLocal = linkLocal
        self.dhcp = dhcp
        self.conflicts = conflicts
    }
}
