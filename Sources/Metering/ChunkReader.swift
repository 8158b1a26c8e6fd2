/// Reads the blocks of a chunk. It never reads outside the bytes, whatever they say.
struct ChunkReader {
    let bytes: [UInt8]
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    mutating func blockHead() throws(SampleChunkError) -> (length: Int, columns: UInt8) {
        let length = try byte()
        guard length < 128 else { throw SampleChunkError(.badCount, at: position - 1) }
        let columns = try byte()
        guard columns < 4 else { throw SampleChunkError(.badColumns, at: position - 1) }
        return (Int(length) + 1, columns)
    }

    /// Reads a column of `count` values, each of which must lie in the range.
    mutating func column(
        into values: inout [128 of Int64], count: Int, range: ClosedRange<Int64>
    ) throws(SampleChunkError) {
        let start = position
        let head = try byte()
        let width = Int(head & 0x3F)
        guard width <= 56 else { throw SampleChunkError(.badWidth, at: start) }
        let reference = try zigzag()
        guard range.contains(reference) else { throw SampleChunkError(.valueOutOfRange, at: start) }
        let quantum = head & 0x40 != 0 ? try varint() : 1
        guard quantum > 1 || head & 0x40 == 0 else { throw SampleChunkError(.badQuantum, at: start) }
        let size = (count * width + 7) / 8
        guard size <= bytes.count - position else { throw SampleChunkError(.truncated, at: bytes.count) }
        var largest = unpack(into: &values, count: count, width: width)
        position += size
        if head & 0x80 != 0 { largest = max(largest, try addExceptions(to: &values, count: count, width: width)) }
        // The largest multiple decides for all of them, so that the loop below needs no checks.
        guard largest <= UInt64(range.upperBound &- reference) / quantum else {
            throw SampleChunkError(.valueOutOfRange, at: start)
        }
        let factor = Int64(truncatingIfNeeded: quantum)
        for index in 0..<count { values[index] = values[index] &* factor &+ reference }
    }

    /// Unpacks the low bits of all values and returns the largest.
    private func unpack(into values: inout [128 of Int64], count: Int, width: Int) -> UInt64 {
        guard width > 0 else {
            for index in 0..<count { values[index] = 0 }
            return 0
        }
        let mask: UInt64 = 1 << UInt64(width) - 1
        let span = bytes.span.bytes
        // Eight bytes are loaded for every value. Those of the last values in a chunk would reach beyond its end.
        let whole = min(count, max(0, ((bytes.count - position - 7) * 8 + width - 1) / width))
        var largest: UInt64 = 0
        var bit = position * 8
        for index in 0..<whole {
            let word = UInt64(littleEndian: span.unsafeLoadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self))
            let value = word >> UInt64(bit & 7) & mask
            largest = max(largest, value)
            values[index] = Int64(truncatingIfNeeded: value)
            bit += width
        }
        for index in whole..<count {
            var word: UInt64 = 0
            for byte in bytes[(bit >> 3)..<min(bytes.count, (bit >> 3) + 8)].reversed() {
                word = word << 8 | UInt64(byte)
            }
            let value = word >> UInt64(bit & 7) & mask
            largest = max(largest, value)
            values[index] = Int64(truncatingIfNeeded: value)
            bit += width
        }
        return largest
    }

    /// Adds the high bits of the exceptions and returns the largest value made so.
    private mutating func addExceptions(
        to values: inout [128 of Int64], count: Int, width: Int
    ) throws(SampleChunkError) -> UInt64 {
        let start = position
        let number = Int(try byte())
        guard (1...count).contains(number) else { throw SampleChunkError(.badException, at: start) }
        var largest: UInt64 = 0
        var previous = -1
        for _ in 0..<number {
            let place = position
            let index = Int(try byte())
            let high = try varint()
            guard index > previous, index < count, high > 0, high.leadingZeroBitCount >= width else {
                throw SampleChunkError(.badException, at: place)
            }
            let value = UInt64(bitPattern: values[index]) | high << UInt64(width)
            values[index] = Int64(truncatingIfNeeded: value)
            largest = max(largest, value)
            previous = index
        }
        return largest
    }

    private mutating func byte() throws(SampleChunkError) -> UInt8 {
        guard position < bytes.count else { throw SampleChunkError(.truncated, at: position) }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func varint() throws(SampleChunkError) -> UInt64 {
        let start = position
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte < 2 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw SampleChunkError(.badInteger, at: start)
    }

    private mutating func zigzag() throws(SampleChunkError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}
