/// The figures printed under a chart, over what the window shows.
public struct Statistics: Hashable, Sendable {
    public let last: Double
    public let least: Double
    public let greatest: Double
    /// Weighted by time: a long steady hour counts more than a burst of samples in a second. Gaps do not count.
    public let mean: Double
    public let gaps: Int

    /// Nil when the window has nothing of the series' line.
    public init?(of series: Series, in window: ChartWindow) {
        let summaries = series.summaries(in: window)
        let points = series.points(in: window)
        var low = Double.infinity
        var high = -Double.infinity
        var gaps = 0
        var sum = 0.0
        var area = 0.0
        var duration = 0.0
        var previousEnd = summaries.first?.from ?? 0
        for summary in summaries {
            low = min(low, summary.least)
            high = max(high, summary.greatest)
            sum += summary.mean
            area += summary.mean * summary.covered
            duration += summary.covered
            if summary.from - previousEnd > series.gapLimit { gaps += 1 }
            previousEnd = summary.to
        }
        if let first = points.first {
            if !summaries.isEmpty, first.time - previousEnd > series.gapLimit { gaps += 1 }
            var previous = first
            points.withUnsafeBufferPointer { points in
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
            }
        }
        guard let last = points.last?.value ?? summaries.last?.mean else { return nil }
        self.last = last
        least = low
        greatest = high
        let count = Double(points.count + summaries.count)
        // Rounding must not push the mean of a constant series out of its range.
        mean = min(max(duration > 0 ? area / duration : sum / count, low), high)
        self.gaps = gaps
    }
}
