public import DNSWire

/// A route that a DHCP server hands out (RFC 3442).
public struct ClasslessRoute: Hashable, Sendable {
    /// The network's first address; 0.0.0.0 with a prefix of 0 bits is the default route.
    public let destination: IPv4Address
    /// Bits, at most 32.
    public let prefixLength: UInt8
    /// 0.0.0.0: what is there is on the link.
    public let router: IPv4Address

    /// What the address says beyond the prefix is cleared, as RFC 3442 asks.
    public init(destination: IPv4Address, prefixLength: UInt8, router: IPv4Address) {
        self.destination = destination.network(prefixLength: prefixLength)
        self.prefixLength = prefixLength
        self.router = router
    }

    /// Only as many bytes of the destination as the prefix reaches into.
    var encoded: [UInt8] {
        [prefixLength] + destination.bytes.prefix(Self.octets(of: prefixLength)) + router.bytes
    }

    /// All routes of an option; nil when one is malformed, or when there is none.
    static func list(decoding data: [UInt8]) -> [ClasslessRoute]? {
        var reader = ByteReader(data)
        var routes: [ClasslessRoute] = []
        while reader.remaining > 0 {
            guard let length = try? reader.readUInt8(), length <= 32,
                let octets = try? reader.readBytes(Self.octets(of: length)),
                let router = try? reader.readIPv4Address()
            else { return nil }
            let number = octets.reduce(0) { $0 << 8 | UInt32($1) }
            let destination = IPv4Address(rawValue: number << UInt32(8 * (4 - octets.count)))
            routes.append(ClasslessRoute(destination: destination, prefixLength: length, router: router))
        }
        return routes.isEmpty ? nil : routes
    }

    private static func octets(of prefixLength: UInt8) -> Int { (Int(prefixLength) + 7) / 8 }
}
