/// The checksum of IP and UDP (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.
package struct InternetChecksum {
    private var sum: UInt64 = 0

    package init() {}

    /// Adds bytes. Each call starts a new word, so only the last piece may have an odd length.
    package mutating func add(_ bytes: some Collection<UInt8>) {
        var isHigh = true
        for byte in bytes {
            sum += isHigh ? UInt64(byte) << 8 : UInt64(byte)
            isHigh.toggle()
        }
    }

    /// The checksum; zero over bytes that include their correct checksum.
    package var value: UInt16 {
        var folded = sum
        while folded > 0xFFFF { folded = folded & 0xFFFF + folded >> 16 }
        return ~UInt16(truncatingIfNeeded: folded)
    }
}
