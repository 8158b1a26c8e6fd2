public import ProtocolCore

extension SampleChunk {
    /// Returns the samples within a range, both ends included. A chunk is fetched whole, and this method removes the
    /// samples outside the range. The ends are rounded down to whole milliseconds like the samples' times.
    public func samples(from first: Instant, through last: Instant) throws(SampleChunkError) -> [Sample] {
        let samples = try samples()
        guard first <= last else { return [] }
        let range = first.wholeMilliseconds...last.wholeMilliseconds
        return samples.filter { range.contains($0.milliseconds) }
    }
}
