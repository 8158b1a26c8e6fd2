/// Builds sample chunks one sample at a time. Full blocks are compressed as they fill, at most 127 samples wait for theirs.
public struct SampleChunkEncoder: Sendable {
    /// A chunk is sealed before it grows beyond this many bytes. It keeps one chunk well inside one frame of the wire.
    public static let byteLimit = 16_384
    /// What a block can take at most: four columns of 128 values of eight bytes, and their heads.
    private static let largestBlock = 2 + 4 * (1 + 10 + 10 + SampleChunk.blockLimit * 8)

    private var bytes = [UInt8](repeating: 0, count: SampleChunk.headerSize)
    private var block: [Sample] = []
    /// Samples in the blocks that are compressed.
    private var compressed = 0
    private var first: Int64 = 0
    private var last: Int64 = 0
    /// The time of the sample before the block's first.
    private var before: Int64 = 0
    private var columns = ColumnEncoder()
    private var values: [Int64] = []

    public init() {}

    /// The number of samples in the open chunk.
    public var count: Int { compressed + block.count }

    /// The plug's clock at the open chunk's first and last sample, in milliseconds; nil while it is empty.
    public var span: ClosedRange<Int64>? { count == 0 ? nil : first...last }

    /// Adds a sample to the open chunk. Where it does not belong into it, because the chunk is full or the clock went back,
    /// the chunk is sealed and returned and the sample begins the next.
    public mutating func append(_ sample: Sample) -> SampleChunk? {
        let sealed = belongs(sample) ? nil : seal()
        if count == 0 {
            first = sample.milliseconds
            before = first
        }
        if let previous = block.last, !previous.hasColumns(of: sample) { compressBlock() }
        block.append(sample)
        last = sample.milliseconds
        if block.count == SampleChunk.blockLimit { compressBlock() }
        return sealed
    }

    /// Closes the open chunk and begins a new one; nil if it is empty.
    public mutating func seal() -> SampleChunk? {
        guard let chunk else { return nil }
        self = SampleChunkEncoder()
        return chunk
    }

    /// The open chunk as it would be if it were sealed now; nil if it is empty.
    public var chunk: SampleChunk? {
        guard let span else { return nil }
        var copy = self
        copy.compressBlock()
        copy.writeHeader(span)
        return SampleChunk(trusted: copy.bytes)
    }

    /// Bytes of memory that the open chunk takes, about.
    public var byteCount: Int { bytes.count + block.count * MemoryLayout<Sample>.stride }

    /// False where the chunk is full, where time falls, and where it leaps further than a difference can say.
    private func belongs(_ sample: Sample) -> Bool {
        let count = count
        guard count > 0 else { return true }
        return sample.milliseconds >= last && count < SampleChunk.sampleLimit
            && (!block.isEmpty || bytes.count + Self.largestBlock <= Self.byteLimit)
            && !sample.milliseconds.subtractingReportingOverflow(first).overflow
    }

    private mutating func compressBlock() {
        guard let head = block.first else { return }
        bytes.append(UInt8(block.count - 1))
        bytes.append((head.decivolts != nil ? 1 : 0) | (head.milliamperes != nil ? 2 : 0))
        values.removeAll(keepingCapacity: true)
        for sample in block {
            values.append(sample.milliseconds - before)
            before = sample.milliseconds
        }
        columns.encode(values, into: &bytes)
        encodeColumn { Int64($0.deciwatts) }
        if head.decivolts != nil { encodeColumn { Int64($0.decivolts ?? 0) } }
        if head.milliamperes != nil { encodeColumn { Int64($0.milliamperes ?? 0) } }
        compressed += block.count
        block.removeAll(keepingCapacity: true)
    }

    private mutating func encodeColumn(_ value: (Sample) -> Int64) {
        values.removeAll(keepingCapacity: true)
        for sample in block { values.append(value(sample)) }
        columns.encode(values, into: &bytes)
    }

    private mutating func writeHeader(_ span: ClosedRange<Int64>) {
        bytes[0] = SampleChunk.format
        bytes[2] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: count)
        for index in 0..<8 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: span.lowerBound >> Int64(56 - 8 * index))
            bytes[12 + index] = UInt8(truncatingIfNeeded: span.upperBound >> Int64(56 - 8 * index))
        }
    }
}

extension Sample {
    fileprivate func hasColumns(of other: Sample) -> Bool {
        (decivolts == nil) == (other.decivolts == nil) && (milliamperes == nil) == (other.milliamperes == nil)
    }
}
