public import DNSWire
public import MulticastDNS

/// The link that the proxy serves, with the addresses and names that it must not represent.
public struct ProxyLink: Hashable, Sendable {
    /// The kernel's index of the interface.
    public var interface: InterfaceID
    /// The plug's own hardware address on this link.
    public var hardware: MACAddress
    /// The plug's own addresses with their prefixes, which decide what is on the link.
    public var addresses: [InterfaceAddress]
    /// The addresses of routers, DNS servers and DHCP servers. A host that represents such an address could read the
    /// traffic of the house.
    public var infrastructure: Set<IPAddress>
    /// The plug's own names: its host name and the names of its services.
    public var names: Set<Name>

    /// Creates a link.
    public init(
        interface: InterfaceID, hardware: MACAddress, addresses: [InterfaceAddress],
        infrastructure: Set<IPAddress> = [], names: Set<Name> = []
    ) {
        self.interface = interface
        self.hardware = hardware
        self.addresses = addresses
        self.infrastructure = infrastructure
        self.names = names
    }

    /// The reason why the proxy must not represent this address, or nil.
    func objection(to address: IPAddress) -> RefusalReason? {
        if addresses.contains(where: { $0.address == address }) { return .ownAddress }
        if infrastructure.contains(address) { return .infrastructureAddress }
        guard address.isHost, !addresses.contains(where: { $0.isReserved(address) }) else { return .addressNotUnicast }
        guard address.isLinkLocal || addresses.contains(where: { $0.contains(address) }) else {
            return .addressNotOnLink
        }
        return nil
    }

    /// The source of ARP requests: the plug's own IPv4 address, or 0.0.0.0 without one, which makes them probes.
    var sourceV4: IPv4Address {
        for case .v4(let address) in addresses.map(\.address) { return address }
        return IPv4Address(rawValue: 0)
    }

    /// The source of neighbour discovery: the plug's link-local address, or its first IPv6 address, or nil.
    var sourceV6: IPv6Address? {
        let own = addresses.map(\.address)
        for case .v6(let address) in own.filter(\.isLinkLocal) + own { return address }
        return nil
    }
}

extension InterfaceAddress {
    /// Returns true if the other address has the same prefix.
    func contains(_ other: IPAddress) -> Bool {
        switch (address, other) {
        case (.v4(let own), .v4(let other)):
            return (own.rawValue ^ other.rawValue) & hostMaskV4 == own.rawValue ^ other.rawValue
        case (.v6(let own), .v6(let other)):
            let bits = min(prefixLength, 128)
            let high = bits >= 64 ? 0 : UInt64.max >> UInt64(bits)
            let low = bits <= 64 ? UInt64.max : UInt64.max >> UInt64(bits - 64)
            return (own.high ^ other.high) & ~high == 0 && (own.low ^ other.low) & ~low == 0
        case (.v4, .v6), (.v6, .v4):
            return false
        }
    }

    /// Returns true for the first and the last IPv4 address of the subnet, which no host has.
    func isReserved(_ other: IPAddress) -> Bool {
        guard case .v4(let other) = other, contains(.v4(other)), prefixLength < 31 else { return false }
        let host = other.rawValue & hostMaskV4
        return host == 0 || host == hostMaskV4
    }

    /// The bits of an IPv4 address that differ between the hosts of the subnet. A shift by 32 bits results in zero.
    private var hostMaskV4: UInt32 { UInt32.max >> UInt32(min(prefixLength, 32)) }
}

extension IPAddress {
    /// True for an address that one host can have: not multicast, broadcast, loopback or unspecified.
    var isHost: Bool {
        guard !isLoopback else { return false }
        switch self {
        case .v4(let address): return address.rawValue >> 24 != 0 && address.rawValue >> 24 < 224
        case .v6(let address): return address.high >> 56 != 0xFF && address != .unspecified
        }
    }
}

/// The frames that the packet socket must deliver. An empty filter means that the socket is not needed.
public struct CaptureFilter: Hashable, Sendable {
    /// ARP packets and neighbour discovery about these addresses; TCP SYN and UDP to them.
    public var addresses: Set<IPAddress>
    /// Every frame from these cards, which shows that their host is awake.
    public var cards: Set<MACAddress>

    /// Creates a filter.
    public init(addresses: Set<IPAddress> = [], cards: Set<MACAddress> = []) {
        self.addresses = addresses
        self.cards = cards
    }

    /// True if no frame is needed.
    public var isEmpty: Bool { addresses.isEmpty && cards.isEmpty }
}
