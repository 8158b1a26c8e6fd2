public import DNSWire
public import ProtocolCore

/// The state of an interface's addresses, for `plugd status`, `plugctl info` and the light.
public struct AddressingStatus: Hashable, Sendable {
    /// The state of the link-local address.
    public enum LinkLocal: Hashable, Sendable {
        /// The interface has no link-local address: a lease replaces it, the link is down, or the next claim must wait
        /// after too many conflicts.
        case none
        /// The claim is probing; the address is not usable yet.
        case claiming(IPv4Address)
        /// The address is claimed and usable.
        case held(IPv4Address)
        /// A lease is preferred. The address is kept for its existing connections.
        case deprecated(IPv4Address)
    }

    /// The state of the DHCP client, or of the address that replaces it.
    public enum DHCP: Hashable, Sendable {
        /// The link is down.
        case off
        /// The client searches for a server, waits for its answer, or probes the leased address.
        case searching
        /// The interface has a lease.
        case leased(Lease)
        /// The interface has the address that an owner chose, and asks no server.
        case fixed(IPv4Address)
    }

    /// A lease, as reported to the user.
    public struct Lease: Hashable, Sendable {
        /// The leased address.
        public var address: IPv4Address
        /// The length of the network part in bits.
        public var prefixLength: UInt8
        /// The server that assigned the address.
        public var server: IPv4Address
        /// The preferred default router.
        public var router: IPv4Address?
        /// The end of the lease; nil if it never expires.
        public var expires: Instant?

        /// Creates a lease.
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

    /// The state of the link-local address.
    public var linkLocal: LinkLocal
    /// The state of the DHCP client.
    public var dhcp: DHCP
    /// The number of conflicts since the machine started.
    public var conflicts: Int

    /// Creates a status.
    public init(linkLocal: LinkLocal, dhcp: DHCP, conflicts: Int) {
        self.linkLocal = linkLocal
        self.dhcp = dhcp
        self.conflicts = conflicts
    }
}
