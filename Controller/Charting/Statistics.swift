/// The figures printed under a chart, over the points of the window.
public struct Statistics: Hashable, Sendable {
    public let last: Double
    public let least: Double
    public let greatest: Double
    /// Weighted by time: a long steady hour counts more than a burst of samples in a second. Gaps do not count.
    public let mean: Double
    public let gaps: Int

    /// Nil when the window has no point.
    public init?(of series: Series, in window: ChartWindow) {
        let points = series.points(in: window)
        guard let first = points.first, let final = points.last else { return nil }
        var low = first.value
        var high = first.value
        var gaps = 0
        var sum = 0.0
        var area = 0.0
        var duration = 0.0
        var previous = first
        for point in points {
            low = min(low, point.value)
            high = max(high, point.value)
            sum += point.value
            let step = point.time - previous.time
            if step <= series.gapLimit {
                area += (point.value + previous.value) / 2 * step
                duration += step
            } else {
                gaps += 1
            }
            previous = point
        }
        last = final.value
        least = low
        greatest = high
        // Rounding must not push the mean of a constant series out of its range.
        mean = min(max(duration > 0 ? area / duration : sum / Double(points.count), low), high)
        self.gaps = gaps
    }
}
