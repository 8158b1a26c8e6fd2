extension SampleChunk {
    /// All samples, in the order in which they were taken.
    public func samples() throws(SampleChunkError) -> [Sample] {
        var reader = ChunkReader(bytes: bytes, position: Self.headerSize)
        var samples: [Sample] = []
        samples.reserveCapacity(count)
        var time = firstMilliseconds
        var steps = [128 of Int64](repeating: 0)
        var watts = [128 of Int64](repeating: 0)
        var volts = [128 of Int64](repeating: 0)
        var amperes = [128 of Int64](repeating: 0)
        while samples.count < count {
            let start = reader.position
            let (length, columns) = try reader.blockHead()
            guard length <= count - samples.count else { throw SampleChunkError(.badCount, at: start) }
            try reader.column(into: &steps, count: length, range: 0...(.max))
            try reader.column(into: &watts, count: length, range: Int64(Int32.min)...Int64(Int32.max))
            if columns & 1 != 0 { try reader.column(into: &volts, count: length, range: 0...Int64(UInt16.max)) }
            if columns & 2 != 0 { try reader.column(into: &amperes, count: length, range: 0...Int64(UInt32.max)) }
            for index in 0..<length {
                let (next, overflow) = time.addingReportingOverflow(steps[index])
                guard !overflow else { throw SampleChunkError(.badTime, at: start) }
                time = next
                samples.append(
                    Sample(
                        milliseconds: time, deciwatts: Int32(truncatingIfNeeded: watts[index]),
                        decivolts: columns & 1 != 0 ? UInt16(truncatingIfNeeded: volts[index]) : nil,
                        milliamperes: columns & 2 != 0 ? UInt32(truncatingIfNeeded: amperes[index]) : nil))
            }
        }
        guard reader.position == bytes.count else { throw SampleChunkError(.trailingBytes, at: reader.position) }
        guard samples[0].milliseconds == firstMilliseconds, time == lastMilliseconds else {
            throw SampleChunkError(.badTime, at: Self.headerSize)
        }
        return samples
    }
}
