public import DNSWire

/// The kernel's index of an interface.
public typealias InterfaceID = UInt32

/// An address with the length of its network part, in bits.
public struct InterfaceAddress: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The length of the network part in bits.
    public var prefixLength: UInt8
    /// A deprecated address serves existing connections. New connections should not use it as a source or a destination
    /// (RFC 4862 §5.5.4, RFC 3927 §1.9).
    public var isDeprecated: Bool

    /// Creates an address.
    public init(_ address: IPAddress, prefixLength: UInt8, isDeprecated: Bool = false) {
        self.address = address
        self.prefixLength = prefixLength
        self.isDeprecated = isDeprecated
    }

    /// Returns true if the other address is in the same subnet.
    func coversSubnet(of other: IPAddress) -> Bool {
        guard address.family == other.family else { return false }
        var bits = Int(prefixLength)
        for (own, theirs) in zip(address.bytes, other.bytes) {
            guard bits > 0 else { return true }
            let mask: UInt8 = bits >= 8 ? 0xFF : ~(0xFF >> UInt8(bits))
            guard own & mask == theirs & mask else { return false }
            bits -= 8
        }
        return true
    }
}

/// An interface that is up, with its usable addresses (without tentative ones).
public struct NetworkInterface: Hashable, Sendable, Identifiable {
    /// The kernel's index.
    public var id: InterfaceID
    /// The kernel's name, such as "eth0".
    public var name: String
    /// The usable addresses.
    public var addresses: [InterfaceAddress]
    /// The families with multicast on this interface.
    public var families: Set<IPFamily>
    /// Addresses of this host on other interfaces of the same link. The responder detects them.
    private(set) var siblings: [IPAddress] = []

    /// Creates an interface. Without `families`, it has the families of its addresses, except IPv6 on a loopback
    /// interface, which has no IPv6 multicast.
    public init(id: InterfaceID, name: String, addresses: [InterfaceAddress], families: Set<IPFamily>? = nil) {
        self.id = id
        self.name = name
        self.addresses = addresses
        let isLoopback = addresses.contains { $0.address.isLoopback }
        self.families = families ?? Set(addresses.map(\.address.family)).subtracting(isLoopback ? [.v6] : [])
    }

    /// Returns a copy of the interface with these addresses as its ``siblings``.
    func with(siblings: [IPAddress]) -> NetworkInterface {
        var network = self
        network.siblings = siblings
        return network
    }

    /// The addresses whose family has multicast here, so that peers can find and use them. Deprecated ones are included
    /// only if their family has no other address.
    var own: [IPAddress] {
        let preferred = Set(addresses.filter { !$0.isDeprecated }.map(\.address.family))
        return addresses.filter { entry in
            let family = entry.address.family
            return families.contains(family) && !(entry.isDeprecated && preferred.contains(family))
        }.map(\.address)
    }

    /// The addresses to publish, without duplicates.
    var published: [IPAddress] {
        var seen: Set<IPAddress> = []
        return (own + siblings).filter { seen.insert($0).inserted }
    }

    /// The families in the order in which packets are sent. The fixed order makes runs repeatable.
    var orderedFamilies: [IPFamily] { IPFamily.allCases.filter(families.contains) }

    /// Returns true if the source is on this link. Unicast packets from other sources are ignored (RFC 6762 §11).
    func isOnLink(_ source: IPAddress) -> Bool {
        source.isLinkLocal || addresses.contains { $0.coversSubnet(of: source) }
    }
}
