public import ProtocolCore

extension SampleChunk {
    /// The samples that a range asks for, both ends included. A chunk is fetched whole; this takes off what lies outside.
    /// A sample's time is in whole milliseconds, rounded down, and so are the ends.
    public func samples(from first: Instant, through last: Instant) throws(SampleChunkError) -> [Sample] {
        let samples = try samples()
        guard first <= last else { return [] }
        let range = first.wholeMilliseconds...last.wholeMilliseconds
        return samples.filter { range.contains($0.milliseconds) }
    }
}
