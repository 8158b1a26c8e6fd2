/// The bytes of a chunk under construction. The memory is allocated once, so that writing never allocates.
struct ChunkWriter: Sendable {
    private var bytes = [UInt8](repeating: 0, count: SampleChunkEncoder.byteLimit)
    /// The number of written bytes, including the header.
    private(set) var count = SampleChunk.headerSize

    /// Returns the bytes with their header, in memory of exactly their size.
    func sealed(count samples: Int, span: ClosedRange<Int64>) -> [UInt8] {
        var sealed = Array(bytes[..<count])
        sealed[0] = SampleChunk.format
        sealed[2] = UInt8(truncatingIfNeeded: samples >> 8)
        sealed[3] = UInt8(truncatingIfNeeded: samples)
        for index in 0..<8 {
            sealed[4 + index] = UInt8(truncatingIfNeeded: span.lowerBound >> Int64(56 - 8 * index))
            sealed[12 + index] = UInt8(truncatingIfNeeded: span.upperBound >> Int64(56 - 8 * index))
        }
        return sealed
    }

    /// Removes the content and keeps the memory.
    mutating func removeAll() { count = SampleChunk.headerSize }

    mutating func append(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func appendZigzag(_ value: Int64) {
        appendVarint(UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    mutating func appendLowBits(_ width: Int, of column: inout Column) {
        let offset = count
        var span = bytes.mutableSpan
        var output = span.mutableBytes
        column.storeLowBits(width, in: &output, at: offset)
        count = offset + (column.count * width + 7) / 8
    }
}
