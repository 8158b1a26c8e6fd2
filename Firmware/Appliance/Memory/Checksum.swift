/// The checksum of mirror records and of the audit log's lines.
package enum Checksum {
    /// Returns the CRC-32 of IEEE 802.3: reflected, polynomial 0x04C11DB7, as in Ethernet and zip.
    package static func crc32(_ bytes: Span<UInt8>) -> UInt32 {
        var remainder: UInt32 = .max
        for index in bytes.indices {
            remainder = remainder >> 8 ^ table[Int(UInt8(truncatingIfNeeded: remainder) ^ bytes[index])]
        }
        return ~remainder
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}
