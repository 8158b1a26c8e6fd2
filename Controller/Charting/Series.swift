/// One measured value at one time.
public struct ChartPoint: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var time: Double
    /// In the unit of the series.
    public var value: Double

    public init(time: Double, value: Double) {
        self.time = time
        self.value = value
    }
}

/// A named line of a chart. Whatever is put in, what is drawn is finite and in the order of time: points that are not
/// numbers, or too large to be measurements, are left out and so become part of a gap.
public struct Series: Hashable, Sendable {
    public let name: String
    public let unit: ChartUnit
    /// Ascending in time.
    public let points: [ChartPoint]
    /// Two neighbours further apart than this many seconds have a gap between them, which no line crosses.
    public let gapLimit: Double

    /// Stops sums, differences and integer conversions in the layout from overflowing.
    static let largestValue = 1e15
    /// About 30,000 years: stops the calendar's integer arithmetic from overflowing.
    static let largestTime = 1e12

    /// - Parameters:
    ///   - points: In any order; already ascending ones are not copied.
    ///   - gapLimit: Seconds; without one, neighbours are always joined.
    public init(name: String, unit: ChartUnit, points: [ChartPoint], gapLimit: Double = .infinity) {
        self.name = name
        self.unit = unit
        self.gapLimit = gapLimit
        self.points = Series.drawable(points)
    }

    private static func drawable(_ points: [ChartPoint]) -> [ChartPoint] {
        var ascending = true
        var valid = true
        var previous = -largestTime
        for point in points {
            // A comparison with NaN is false, so that these two conditions catch it as well.
            valid = valid && abs(point.value) <= largestValue && abs(point.time) <= largestTime
            ascending = ascending && point.time >= previous
            previous = point.time
        }
        var kept = points
        if !valid { kept.removeAll { !(abs($0.value) <= largestValue && abs($0.time) <= largestTime) } }
        if !ascending { kept.sort { $0.time < $1.time } }
        return kept
    }

    /// The index of the first point at or after the time.
    func index(atOrAfter time: Double) -> Int {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The points with `from <= time <= to`.
    func points(in window: ChartWindow) -> ArraySlice<ChartPoint> {
        let start = index(atOrAfter: window.from)
        var end = index(atOrAfter: window.to)
        while end < points.count, points[end].time <= window.to { end += 1 }
        return points[start..<max(start, end)]
    }
}

/// The span of time that a chart shows. A live chart is the same chart drawn again with a later window.
public struct ChartWindow: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let from: Double
    public let to: Double

    /// A window is at least a second long: a shorter or reversed one is extended to the right.
    public init(from: Double, to: Double) {
        let limit = Series.largestTime
        let start = from.isFinite ? min(max(from, -limit), limit) : 0
        let end = to.isFinite ? min(max(to, -limit), limit) : start
        self.from = start
        self.to = max(end, start + 1)
    }

    /// From the first to the last point of all series; the first second of 1970 when there is none.
    public init(covering series: [Series]) {
        let first = series.compactMap(\.points.first?.time).min() ?? 0
        let last = series.compactMap(\.points.last?.time).max() ?? first
        self.init(from: first, to: last)
    }

    /// Seconds.
    public var length: Double { to - from }
}
