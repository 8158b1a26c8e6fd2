/// Builds sample chunks one sample at a time, or many. Full blocks are compressed as they fill, at most 127 samples wait
/// for theirs.
public struct SampleChunkEncoder: Sendable {
    /// A chunk is sealed before it grows beyond this many bytes. It keeps one chunk well inside one frame of the wire.
    public static let byteLimit = 16_384
    /// What a block can take at most: four columns of 128 values of eight bytes, and their heads.
    private static let largestBlock = 2 + 4 * (1 + 10 + 10 + SampleChunk.blockLimit * 8)

    private var writer = ChunkWriter()
    private var block: [Sample] = []
    private var column = Column(count: SampleChunk.blockLimit)
    /// Samples in the blocks that are compressed.
    private var compressed = 0
    private var first: Int64 = 0
    private var last: Int64 = 0
    /// The time of the sample before the block's first.
    private var before: Int64 = 0

    public init() { block.reserveCapacity(SampleChunk.blockLimit) }

    /// The number of samples in the open chunk.
    public var count: Int { compressed + block.count }

    /// The plug's clock at the open chunk's first and last sample, in milliseconds; nil while it is empty.
    public var span: ClosedRange<Int64>? { count == 0 ? nil : first...last }

    /// Adds a sample to the open chunk. Where it does not belong into it, because the chunk is full or the clock went back,
    /// the chunk is sealed and returned and the sample begins the next.
    public mutating func append(_ sample: Sample) -> SampleChunk? {
        let sealed = belongs(sample) ? nil : seal()
        add(sample)
        return sealed
    }

    /// Adds samples as if one after the other, only faster, and returns the chunks that were sealed.
    public mutating func append(contentsOf samples: [Sample]) -> [SampleChunk] {
        var sealed: [SampleChunk] = []
        let samples = samples.span
        var index = 0
        while index < samples.count {
            if !belongs(samples[index]), let chunk = seal() { sealed.append(chunk) }
            let end = index + SampleChunk.blockLimit
            if end <= samples.count, canBeNextBlock(samples.extracting(index..<end)) {
                if count == 0 { begin(at: samples[index]) }
                last = samples[end - 1].milliseconds
                compress(samples.extracting(index..<end))
                index = end
            } else {
                add(samples[index])
                index += 1
            }
        }
        return sealed
    }

    /// Closes the open chunk and begins a new one; nil if it is empty.
    public mutating func seal() -> SampleChunk? {
        guard let span else { return nil }
        compressBlock()
        let bytes = writer.sealed(count: compressed, span: span)
        writer.removeAll()
        compressed = 0
        return SampleChunk(trusted: bytes)
    }

    /// The open chunk as it would be if it were sealed now; nil if it is empty.
    public var chunk: SampleChunk? {
        var copy = self
        return copy.seal()
    }

    /// Bytes of memory that the open chunk takes, about.
    public var byteCount: Int { writer.count + block.count * MemoryLayout<Sample>.stride }

    private mutating func begin(at sample: Sample) {
        first = sample.milliseconds
        before = first
    }

    /// Adds a sample that belongs into the open chunk.
    private mutating func add(_ sample: Sample) {
        if count == 0 { begin(at: sample) }
        if let previous = block.last, !previous.hasColumns(of: sample) { compressBlock() }
        block.append(sample)
        last = sample.milliseconds
        if block.count == SampleChunk.blockLimit { compressBlock() }
    }

    /// False where the chunk is full, where time falls, and where it leaps further than a difference can say.
    private func belongs(_ sample: Sample) -> Bool {
        let count = count
        guard count > 0 else { return true }
        return sample.milliseconds >= last && count < SampleChunk.sampleLimit && hasRoom(for: sample)
            && !sample.milliseconds.subtractingReportingOverflow(first).overflow
    }

    /// A block that has begun has its room; a sample that begins another needs room for both.
    private func hasRoom(for sample: Sample) -> Bool {
        guard let previous = block.last else { return writer.count + Self.largestBlock <= Self.byteLimit }
        return previous.hasColumns(of: sample) || writer.count + 2 * Self.largestBlock <= Self.byteLimit
    }

    /// Whether these samples, the first of which belongs into the open chunk, are what its next block will hold.
    private func canBeNextBlock(_ samples: Span<Sample>) -> Bool {
        let head = samples[0]
        guard block.isEmpty, compressed + samples.count <= SampleChunk.sampleLimit else { return false }
        var previous = head.milliseconds
        for index in samples.indices {
            let sample = samples[index]
            guard sample.milliseconds >= previous, sample.hasColumns(of: head) else { return false }
            previous = sample.milliseconds
        }
        return !previous.subtractingReportingOverflow(count == 0 ? head.milliseconds : first).overflow
    }

    private mutating func compressBlock() {
        guard !block.isEmpty else { return }
        let samples = block
        compress(samples.span)
        block.removeAll(keepingCapacity: true)
    }

    private mutating func compress(_ samples: Span<Sample>) {
        let head = samples[0]
        writer.append(UInt8(samples.count - 1))
        writer.append((head.decivolts != nil ? 1 : 0) | (head.milliamperes != nil ? 2 : 0))
        var before = before
        append(samples) { sample in
            let step = sample.milliseconds &- before
            before = sample.milliseconds
            return step
        }
        self.before = before
        append(samples) { Int64($0.deciwatts) }
        if head.decivolts != nil { append(samples) { Int64($0.decivolts ?? 0) } }
        if head.milliamperes != nil { append(samples) { Int64($0.milliamperes ?? 0) } }
        compressed += samples.count
    }

    @inline(__always)
    private mutating func append(_ samples: Span<Sample>, _ value: (Sample) -> Int64) {
        let reference = column.fill(samples, value)
        writer.append(&column, above: reference)
    }
}

extension Sample {
    fileprivate func hasColumns(of other: Sample) -> Bool {
        (decivolts == nil) == (other.decivolts == nil) && (milliamperes == nil) == (other.milliamperes == nil)
    }
}
