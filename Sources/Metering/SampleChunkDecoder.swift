extension SampleChunk {
    /// Returns all samples in the order of their measurement, or throws if the blocks are malformed.
    public func samples() throws(SampleChunkError) -> [Sample] {
        try [Sample](capacity: count) { output throws(SampleChunkError) in
            var decoder = BlockDecoder(self)
            while output.count < count { try decoder.append(to: &output, atMost: count - output.count) }
            try decoder.finish(self)
        }
    }
}

/// Decodes the columns of a chunk's blocks into samples.
private struct BlockDecoder {
    private var reader: ChunkReader
    private var time: Int64
    private var times = [UInt64](repeating: 0, count: SampleChunk.blockLimit)
    private var values = [UInt64](repeating: 0, count: SampleChunk.blockLimit)

    init(_ chunk: SampleChunk) {
        reader = ChunkReader(bytes: chunk.bytes, position: SampleChunk.headerSize)
        time = chunk.firstMilliseconds
    }

    /// Appends the samples of the next block.
    mutating func append(to output: inout OutputSpan<Sample>, atMost limit: Int) throws(SampleChunkError) {
        let start = reader.position
        let first = output.count
        let (length, columns) = try reader.blockHead()
        guard length <= limit else { throw SampleChunkError(.badCount, at: start) }
        let steps = try reader.column(into: &times, count: length, range: 0...(.max))
        let watts = try reader.column(
            into: &values, count: length, range: Int64(Int32.min)...Int64(Int32.max))
        // A chunk begins at its first sample, whose time step is zero.
        guard first > 0 || steps.value(times[0]) == 0 else {
            throw SampleChunkError(.badTime, at: SampleChunk.headerSize)
        }
        guard let end = append(to: &output, count: length, steps, watts) else {
            throw SampleChunkError(.badTime, at: start)
        }
        time = end
        if columns & 1 != 0 {
            let volts = try reader.column(into: &values, count: length, range: 0...Int64(UInt16.max))
            fill(&output, from: first, length) { $0.decivolts = UInt16(truncatingIfNeeded: volts.value($1)) }
        }
        if columns & 2 != 0 {
            let amperes = try reader.column(into: &values, count: length, range: 0...Int64(UInt32.max))
            fill(&output, from: first, length) { $0.milliamperes = UInt32(truncatingIfNeeded: amperes.value($1)) }
        }
    }

    /// Appends samples with time and power. Returns the time of the last sample, or nil if it overflows.
    private func append(
        to output: inout OutputSpan<Sample>, count: Int, _ steps: ChunkReader.Scale, _ watts: ChunkReader.Scale
    ) -> Int64? {
        var time = time
        let times = times.span
        let values = values.span
        for index in 0..<count {
            let (next, overflow) = time.addingReportingOverflow(steps.value(times[index]))
            guard !overflow else { return nil }
            time = next
            let deciwatts = Int32(truncatingIfNeeded: watts.value(values[index]))
            output.append(Sample(milliseconds: next, deciwatts: deciwatts))
        }
        return time
    }

    /// Calls `set` for each sample of the block with its multiple.
    @inline(__always)
    private func fill(
        _ output: inout OutputSpan<Sample>, from first: Int, _ length: Int,
        _ set: (inout Sample, _ multiple: UInt64) -> Void
    ) {
        let multiples = values.span
        var samples = output.mutableSpan
        for index in 0..<length { set(&samples[first &+ index], multiples[index]) }
    }

    /// Checks that the whole chunk was read and that its last time equals the header's.
    func finish(_ chunk: SampleChunk) throws(SampleChunkError) {
        guard reader.position == chunk.bytes.count else {
            throw SampleChunkError(.trailingBytes, at: reader.position)
        }
        guard time == chunk.lastMilliseconds else { throw SampleChunkError(.badTime, at: SampleChunk.headerSize) }
    }
}

#if compiler(<6.3)
    extension [Sample] {
        /// Creates an array as Swift 6.3 does.
        fileprivate init(
            capacity: Int, initializingWith body: (inout OutputSpan<Sample>) throws(SampleChunkError) -> Void
        ) throws(SampleChunkError) {
            var result = Result<Void, SampleChunkError>.success(())
            self.init(unsafeUninitializedCapacity: capacity) { buffer, count in
                var output = OutputSpan(buffer: buffer, initializedCount: 0)
                do throws(SampleChunkError) { try body(&output) } catch { result = .failure(error) }
                count = output.finalize(for: buffer)
            }
            try result.get()
        }
    }
#endif
