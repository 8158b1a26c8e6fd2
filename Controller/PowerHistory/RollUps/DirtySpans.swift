/// The spans of the wall clock whose roll-ups must be recomputed. Spans near each other are joined.
struct DirtySpans {
    /// The spans, sorted, with gaps longer than ``reach``.
    private(set) var spans: [ClosedRange<Int64>] = []

    /// Spans within this distance in milliseconds (half an hour) are recomputed together, because their roll-ups may
    /// share a quarter of an hour.
    static let reach: Int64 = 1_800_000

    mutating func insert(_ span: ClosedRange<Int64>) {
        var (lower, upper) = (span.lowerBound, span.upperBound)
        let first = spans.firstIndex { $0.upperBound.addingClamped(Self.reach) >= lower } ?? spans.count
        var end = first
        while end < spans.count, spans[end].lowerBound <= upper.addingClamped(Self.reach) {
            (lower, upper) = (min(lower, spans[end].lowerBound), max(upper, spans[end].upperBound))
            end += 1
        }
        spans.replaceSubrange(first..<end, with: CollectionOfOne(lower...upper))
    }
}
