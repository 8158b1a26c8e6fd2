/// CRC-32 of IEEE 802.3 with eight bytes per step (Kounavis and Berry, "Novel Table Lookup-Based Algorithms for
/// High-Performance CRC Generation"). It detects stored bytes that a failing storage changed.
enum Checksum {
    /// Table k, entry b: the contribution of byte b if k bytes follow it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var sum = UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 != 0 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            tables[byte] = sum
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()

    static func crc32(_ bytes: some Collection<UInt8>) -> UInt32 {
        bytes.withContiguousStorageIfAvailable { crc32(UnsafeRawBufferPointer($0)) } ?? crc32(Array(bytes))
    }

    private static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        tables.withUnsafeBufferPointer { tables in
            var sum = UInt32.max
            var position = 0
            while position &+ 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                var rest = word ^ UInt64(sum)
                sum = 0
                for table in stride(from: 7, through: 0, by: -1) {
                    sum ^= tables[table &* 256 &+ Int(truncatingIfNeeded: rest & 0xFF)]
                    rest &>>= 8
                }
                position &+= 8
            }
            for byte in bytes[position...] {
                sum = sum &>> 8 ^ tables[Int(truncatingIfNeeded: (sum ^ UInt32(byte)) & 0xFF)]
            }
            return ~sum
        }
    }
}
