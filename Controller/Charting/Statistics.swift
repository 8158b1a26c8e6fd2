/// The figures of a series in a window, printed below a chart.
public struct Statistics: Hashable, Sendable {
    /// The value of the last point, or the mean of the last summary.
    public let last: Double
    /// The lowest value.
    public let least: Double
    /// The highest value.
    public let greatest: Double
    /// The mean, weighted by time, so that a steady hour counts more than a burst of samples within a second. Gaps are
    /// left out.
    public let mean: Double
    /// The number of gaps.
    public let gaps: Int

    /// Computes the figures; nil if the series has no data in the window.
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
        // Rounding must not move the mean of a constant series out of its range.
        mean = min(max(duration > 0 ? area / duration : sum / count, low), high)
        self.gaps = gaps
    }
}
