/// Reads the blocks of a chunk. Never reads outside the bytes, even if they are malformed.
struct ChunkReader {
    /// The bytes, followed by eight zeros so that a whole word can be loaded at any position.
    private let bytes: [UInt8]
    private let end: Int
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes + [UInt8](repeating: 0, count: 8)
        end = bytes.count
        self.position = position
    }

    mutating func blockHead() throws(SampleChunkError) -> (length: Int, columns: UInt8) {
        let length = try byte()
        guard length < 128 else { throw SampleChunkError(.badCount, at: position - 1) }
        let columns = try byte()
        guard columns < 4 else { throw SampleChunkError(.badColumns, at: position - 1) }
        return (Int(length) + 1, columns)
    }

    /// The reference and quantum that turn a column's multiples into values.
    struct Scale {
        var reference: Int64
        var quantum: Int64

        func value(_ multiple: UInt64) -> Int64 { Int64(truncatingIfNeeded: multiple) &* quantum &+ reference }
    }

    /// Reads a column of `count` multiples and checks that their values are in the range.
    mutating func column(
        into multiples: inout [UInt64], count: Int, range: ClosedRange<Int64>
    ) throws(SampleChunkError) -> Scale {
        let start = position
        let head = try byte()
        let width = Int(head & 0x3F)
        guard width <= SampleChunk.widthLimit else { throw SampleChunkError(.badWidth, at: start) }
        let reference = try zigzag()
        guard range.contains(reference) else { throw SampleChunkError(.valueOutOfRange, at: start) }
        let quantum = head & 0x40 != 0 ? try varint() : 1
        guard quantum > 1 || head & 0x40 == 0 else { throw SampleChunkError(.badQuantum, at: start) }
        let size = (count * width + 7) / 8
        guard size <= end - position else { throw SampleChunkError(.truncated, at: end) }
        unpack(into: &multiples, count: count, width: width)
        position += size
        var bound: UInt64 = 1 << UInt64(width) - 1
        if head & 0x80 != 0 { bound = max(bound, try addExceptions(to: &multiples, count: count, width: width)) }
        // Usually even the largest possible multiple is small enough, so that no multiple needs a check.
        let limit = UInt64(range.upperBound &- reference) / quantum
        guard bound <= limit || multiples[..<count].allSatisfy({ $0 <= limit }) else {
            throw SampleChunkError(.valueOutOfRange, at: start)
        }
        return Scale(reference: reference, quantum: Int64(truncatingIfNeeded: quantum))
    }

    /// Unpacks the low bits of all multiples.
    private func unpack(into multiples: inout [UInt64], count: Int, width: Int) {
        // One check here replaces a check per multiple.
        precondition(count <= multiples.count, "a column has room for a block")
        var multiples = multiples.mutableSpan
        if width == 0 {
            for index in 0..<count { multiples[unchecked: index] = 0 }
            return
        }
        let bytes = bytes.span.bytes
        let shift = UInt64(width)
        let mask: UInt64 = 1 &<< shift &- 1
        var bit = position * 8
        var index = 0
        // Four narrow multiples fit in one word. Every shift is by the same count, because loading a different count
        // into a register takes longer.
        while width <= 14, index &+ 3 < count {
            var word = bytes.word(at: bit)
            multiples[unchecked: index] = word & mask
            word &>>= shift
            multiples[unchecked: index &+ 1] = word & mask
            word &>>= shift
            multiples[unchecked: index &+ 2] = word & mask
            word &>>= shift
            multiples[unchecked: index &+ 3] = word & mask
            index &+= 4
            bit &+= 4 &* width
        }
        while index < count {
            multiples[unchecked: index] = bytes.word(at: bit) & mask
            index &+= 1
            bit &+= width
        }
    }

    /// Adds the high bits of the exceptions. Returns the largest resulting multiple.
    private mutating func addExceptions(
        to multiples: inout [UInt64], count: Int, width: Int
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
            let multiple = multiples[index] | high << UInt64(width)
            multiples[index] = multiple
            largest = max(largest, multiple)
            previous = index
        }
        return largest
    }

    private mutating func byte() throws(SampleChunkError) -> UInt8 {
        guard position < end else { throw SampleChunkError(.truncated, at: position) }
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

extension RawSpan {
    /// Returns at least 57 bits from the given bit on.
    fileprivate func word(at bit: Int) -> UInt64 {
        let word = unsafeLoadUnaligned(fromByteOffset: bit &>> 3, as: UInt64.self)
        return UInt64(littleEndian: word) &>> UInt64(truncatingIfNeeded: bit & 7)
    }
}
