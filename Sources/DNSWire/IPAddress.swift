/// The two families of the Internet Protocol.
public enum IPFamily: Hashable, Sendable, CaseIterable {
    case v4, v6
}

/// An IPv4 address: 32 bits, most significant byte first.
public struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
    /// The address as a number; its highest byte is the first byte of the address.
    public let rawValue: UInt32

    /// Creates an address from its number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the address a.b.c.d.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        rawValue = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
    }

    /// Four bytes in network order.
    public var bytes: [UInt8] { bigEndian(rawValue) }

    public var description: String { bytes.map { String($0) }.joined(separator: ".") }
}

/// An IPv6 address: 128 bits, most significant byte first.
public struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    /// The first eight bytes of the address as a number.
    public let high: UInt64
    /// The last eight bytes of the address as a number.
    public let low: UInt64

    /// Creates an address from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Sixteen bytes in network order.
    public var bytes: [UInt8] { bigEndian(high) + bigEndian(low) }

    /// Text in the canonical form of RFC 5952: lower case, the longest run of at least two zero groups as "::".
    public var description: String {
        let groups =
            stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: high >> UInt64($0)) }
            + stride(from: 48, through: 0, by: -16).map { UInt16(truncatingIfNeeded: low >> UInt64($0)) }
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            let end: Int = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(longest.count, 1) { longest = start..<end }
            start = max(end, start + 1)
        }
        func text(_ range: Range<Int>) -> String {
            groups[range].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return text(0..<groups.count) }
        return text(0..<longest.lowerBound) + "::" + text(longest.upperBound..<groups.count)
    }
}

/// An address of either family. An IPv6 link-local address identifies a host only together with an interface.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    case v4(IPv4Address)
    case v6(IPv6Address)

    /// Creates an address from exactly 4 or 16 bytes in network order, or returns nil for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self = .v4(IPv4Address(rawValue: UInt32(number(bytes))))
        case 16: self = .v6(IPv6Address(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8))))
        default: return nil
        }
    }

    /// Returns the IPv4 address a.b.c.d.
    public static func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> IPAddress {
        .v4(IPv4Address(a, b, c, d))
    }

    /// Four or sixteen bytes in network order.
    public var bytes: [UInt8] {
        switch self {
        case .v4(let address): address.bytes
        case .v6(let address): address.bytes
        }
    }

    /// The address family.
    public var family: IPFamily {
        switch self {
        case .v4: .v4
        case .v6: .v6
        }
    }

    /// True for 169.254/16 (RFC 3927) and fe80::/10 (RFC 4291 §2.5.6).
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let address): address.rawValue >> 16 == 0xA9FE
        case .v6(let address): address.high >> 54 == 0xFE80 >> 6
        }
    }

    /// True for 127/8 and ::1.
    public var isLoopback: Bool {
        switch self {
        case .v4(let address): address.rawValue >> 24 == 127
        case .v6(let address): address.high == 0 && address.low == 1
        }
    }

    public var description: String {
        switch self {
        case .v4(let address): address.description
        case .v6(let address): address.description
        }
    }
}
