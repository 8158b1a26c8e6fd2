/// The address of a network card: six bytes (IEEE 802 EUI-48).
public struct MACAddress: Hashable, Sendable, CustomStringConvertible {
    /// The six bytes in their order on the wire, in the low 48 bits.
    public let rawValue: UInt64

    /// Creates an address from its six bytes.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8) {
        rawValue = [a, b, c, d, e, f].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Creates an address from exactly six bytes, or returns nil.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        rawValue = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// ff:ff:ff:ff:ff:ff: all hosts on the link.
    public static let broadcast = MACAddress(255, 255, 255, 255, 255, 255)
    /// 00:00:00:00:00:00: an unknown address.
    public static let zero = MACAddress(0, 0, 0, 0, 0, 0)

    /// The six bytes in their order.
    public var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: rawValue >> UInt64(40 - 8 * $0)) } }

    /// True for an address of more than one card, such as ``broadcast`` (IEEE 802: the lowest bit of the first byte).
    public var isGroup: Bool { rawValue >> 40 & 1 == 1 }

    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
