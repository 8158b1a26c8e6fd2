package import DNSWire

/// Reads consecutive fields. Offsets refer to the whole array.
package struct ByteReader {
    package let bytes: [UInt8]
    package private(set) var offset: Int
    package let end: Int

    /// - Parameter range: the readable part, which must be within the bytes.
    package init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        self.bytes = bytes
        offset = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    package var remaining: Int { end - offset }

    package mutating func readBytes(_ count: Int) throws(PacketError) -> ArraySlice<UInt8> {
        guard count <= remaining else { throw PacketError(offset: offset, reason: .truncated(needed: count)) }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    package mutating func readUInt8() throws(PacketError) -> UInt8 {
        try UInt8(truncatingIfNeeded: readNumber(1))
    }

    package mutating func readUInt16() throws(PacketError) -> UInt16 {
        try UInt16(truncatingIfNeeded: readNumber(2))
    }

    package mutating func readUInt32() throws(PacketError) -> UInt32 {
        try UInt32(truncatingIfNeeded: readNumber(4))
    }

    package mutating func readIPv4Address() throws(PacketError) -> IPv4Address {
        try IPv4Address(rawValue: readUInt32())
    }

    package mutating func readMACAddress() throws(PacketError) -> MACAddress {
        guard let address = MACAddress(bytes: try readBytes(6)) else { preconditionFailure("six bytes were read") }
        return address
    }

    private mutating func readNumber(_ count: Int) throws(PacketError) -> UInt64 {
        try readBytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The two bytes in network order.
package func networkOrder(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

/// The four bytes in network order.
package func networkOrder(_ value: UInt32) -> [UInt8] { IPv4Address(rawValue: value).bytes }
