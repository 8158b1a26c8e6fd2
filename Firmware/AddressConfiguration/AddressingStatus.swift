public import DNSWire
public import ProtocolCore

/// How an interface stands, for `plugd status`, `plugctl info` and the light.
public struct AddressingStatus: Hashable, Sendable {
    public enum LinkLocal: Hashable, Sendable {
        case none
        /// Probing or announcing; not usable yet.
        case claiming(IPv4Address)
        case held(IPv4Address)
        /// A lease is preferred; kept for the connections that are on it.
        case deprecated(IPv4Address)
    }

    public enum DHCP: Hashable, Sendable {
        /// No link.
        case off
        /// Looking for a server, or asking one.
        case searching
        case leased(Lease)
    }

    public struct Lease: Hashable, Sendable {
        public var address: IPv4Address
        public var prefixLength: UInt8
        public var server: IPv4Address
        public var router: IPv4Address?
        /// Nil: for ever.
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
    /// Since the machine began.
    public var conflicts: Int

    public init(linkLocal: LinkLocal, dhcp: DHCP, conflicts: Int) {
        self.linkLocal = linkLocal
        self.dhcp = dhcp
        self.conflicts = conflicts
    }
}
