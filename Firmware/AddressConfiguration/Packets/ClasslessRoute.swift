public import DNSWire

/// A route from a DHCP server (RFC 3442).
public struct ClasslessRoute: Hashable, Sendable {
    /// The network's first address; 0.0.0.0 with a prefix of 0 bits is the default route.
    public let destination: IPv4Address
    /// The length of the prefix in bits, at most 32.
    public let prefixLength: UInt8
    /// The router; 0.0.0.0 if the destination is on the link.
    public let router: IPv4Address

    /// Creates a route. Clears the address bits after the prefix, as RFC 3442 requires.
    public init(destination: IPv4Address, prefixLength: UInt8, router: IPv4Address) {
        self.destination = destination.network(prefixLength: prefixLength)
        self.prefixLength = prefixLength
        self.router = router
    }

    /// The encoded route, with only the destination bytes that the prefix covers.
    var encoded: [UInt8] {
        [prefixLength] + destination.bytes.prefix(Self.octets(of: prefixLength)) + router.bytes
    }

    /// Decodes all routes of an option. Returns nil if one is malformed or the option is empty.
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
