/// Builds sample chunks from single samples or batches. Full blocks are compressed immediately; at most 127 samples
/// wait for their block to fill.
public struct SampleChunkEncoder: Sendable {
    /// The limit of a chunk in bytes. A chunk is sealed before it exceeds this, so that it always fits in one frame of
    /// the wire.
    public static let byteLimit = 16_384
    /// The largest possible block: four columns of 128 values of eight bytes, with their headers.
    private static let largestBlock = 2 + 4 * (1 + 10 + 10 + SampleChunk.blockLimit * 8)

    private var writer = ChunkWriter()
    private var block: [Sample] = []
    private var column = Column(count: SampleChunk.blockLimit)
    /// The number of samples in compressed blocks.
    private var compressed = 0
    private var first: Int64 = 0
    private var last: Int64 = 0
    /// The time of the sample before the block's first one.
    private var before: Int64 = 0

    /// Creates an encoder with an empty chunk.
    public init() { block.reserveCapacity(SampleChunk.blockLimit) }

    /// The number of samples in the open chunk.
    public var count: Int { compressed + block.count }

    /// The plug's clock at the open chunk's first and last sample, in milliseconds; nil while it is empty.
    public var span: ClosedRange<Int64>? { count == 0 ? nil : first...last }

    /// Adds a sample to the open chunk. If the chunk is full or the clock went back, seals and returns the chunk and
    /// starts the next one with this sample. Otherwise returns nil.
    public mutating func append(_ sample: Sample) -> SampleChunk? {
        let sealed = belongs(sample) ? nil : seal()
        add(sample)
        return sealed
    }

    /// Adds many samples, faster than by single calls and with the same result. Returns the sealed chunks.
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

    /// Seals the open chunk and starts a new one. Returns nil if the chunk is empty.
    public mutating func seal() -> SampleChunk? {
        guard let span else { return nil }
        compressBlock()
        let bytes = writer.sealed(count: compressed, span: span)
        writer.removeAll()
        compressed = 0
        return SampleChunk(trusted: bytes)
    }

    /// A sealed copy of the open chunk; nil if it is empty.
    public var chunk: SampleChunk? {
        var copy = self
        return copy.seal()
    }

    /// The approximate memory of the open chunk in bytes.
    public var byteCount: Int { writer.count + block.count * MemoryLayout<Sample>.stride }

    private mutating func begin(at sample: Sample) {
        first = sample.milliseconds
        before = first
    }

    /// Adds a sample that fits the open chunk.
    private mutating func add(_ sample: Sample) {
        if count == 0 { begin(at: sample) }
        if let previous = block.last, !previous.hasColumns(of: sample) { compressBlock() }
        block.append(sample)
        last = sample.milliseconds
        if block.count == SampleChunk.blockLimit { compressBlock() }
    }

    /// Returns false if the chunk is full, if time decreases, or if the time since the chunk's first sample overflows
    /// 64 bits.
    private func belongs(_ sample: Sample) -> Bool {
        let count = count
        guard count > 0 else { return true }
        return sample.milliseconds >= last && count < SampleChunk.sampleLimit && hasRoom(for: sample)
            && !sample.milliseconds.subtractingReportingOverflow(first).overflow
    }

    /// Returns true if the chunk has room. Room for the open block is already reserved; a sample that starts another
    /// block needs room for both blocks.
    private func hasRoom(for sample: Sample) -> Bool {
        guard let previous = block.last else { return writer.count + Self.largestBlock <= Self.byteLimit }
        return previous.hasColumns(of: sample) || writer.count + 2 * Self.largestBlock <= Self.byteLimit
    }

    /// Returns true if the open chunk can take these samples as its next block. The first sample must already fit the
    /// chunk.
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
