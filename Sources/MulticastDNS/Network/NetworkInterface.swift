public import DNSWire

/// The kernel's index of an interface.
public typealias InterfaceID = UInt32

/// An address with the length of its network part, in bits.
public struct InterfaceAddress: Hashable, Sendable {
    public var address: IPAddress
    public var prefixLength: UInt8
    /// Kept for what lives on it; nothing new should begin from it or to it (RFC 4862 §5.5.4, RFC 3927 §1.9).
    public var isDeprecated: Bool

    public init(_ address: IPAddress, prefixLength: UInt8, isDeprecated: Bool = false) {
        self.address = address
        self.prefixLength = prefixLength
        self.isDeprecated = isDeprecated
    }

    /// True when the other address lies in the same subnet.
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

/// An interface that is up, and its addresses that are usable now (not tentative ones).
public struct NetworkInterface: Hashable, Sendable, Identifiable {
    public var id: InterfaceID
    public var name: String
    public var addresses: [InterfaceAddress]
    /// The families in which multicast works here.
    public var families: Set<IPFamily>
    /// Addresses of this host on other interfaces that are on the same link. The responder finds them out.
    var siblings: [IPAddress] = []

    /// Without `families`, those of the addresses; on a loopback interface IPv4 alone, since there IPv6 has no multicast.
    public init(id: InterfaceID, name: String, addresses: [InterfaceAddress], families: Set<IPFamily>? = nil) {
        self.id = id
        self.name = name
        self.addresses = addresses
        let isLoopback = addresses.contains { $0.address.isLoopback }
        self.families = families ?? Set(addresses.map(\.address.family)).subtracting(isLoopback ? [.v6] : [])
    }

    /// Those of the addresses whose family has multicast here, and so can be found and used; deprecated ones only where there is
    /// nothing better in their family.
    var own: [IPAddress] {
        let preferred = Set(addresses.filter { !$0.isDeprecated }.map(\.address.family))
        return addresses.filter { entry in
            let family = entry.address.family
            return families.contains(family) && !(entry.isDeprecated && preferred.contains(family))
        }.map(\.address)
    }

    /// The addresses to publish, each once.
    var published: [IPAddress] {
        var seen: Set<IPAddress> = []
        return (own + siblings).filter { seen.insert($0).inserted }
    }

    /// The order in which packets leave, so that a run repeats exactly.
    var orderedFamilies: [IPFamily] { IPFamily.allCases.filter(families.contains) }

    /// RFC 6762 §11: unicast packets count only when they come from this link.
    func isOnLink(_ source: IPAddress) -> Bool {
        source.isLinkLocal || addresses.contains { $0.coversSubnet(of: source) }
    }
}
