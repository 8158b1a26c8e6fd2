/// A measured value at a time.
public struct ChartPoint: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var time: Double
    /// The value in the unit of the series.
    public var value: Double

    /// Creates a point.
    public init(time: Double, value: Double) {
        self.time = time
        self.value = value
    }
}

/// A summary of a time range, such as an hour of a year.
public struct ChartSummary: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    /// The end, in seconds since 1970-01-01 00:00 UTC.
    public var to: Double
    /// The measured part of the range in seconds.
    public var covered: Double
    /// The mean, weighted by time, in the unit of the series.
    public var mean: Double
    /// The lowest value.
    public var least: Double
    /// The highest value.
    public var greatest: Double

    /// Creates a summary. It is not drawn if it has values that are not finite or not ordered.
    public init(from: Double, to: Double, covered: Double, mean: Double, least: Double, greatest: Double) {
        self.from = from
        self.to = to
        self.covered = covered
        self.mean = mean
        self.least = least
        self.greatest = greatest
    }

    var isDrawable: Bool {
        abs(from) <= Series.largestTime && abs(to) <= Series.largestTime && from < to
            && (0...Series.largestTime).contains(covered)
            && abs(mean) <= Series.largestValue && abs(least) <= Series.largestValue
            && abs(greatest) <= Series.largestValue && least <= greatest
    }
}

/// A sum over a time range, such as the energy of a day; drawn as a bar from its start to its end.
public struct ChartBar: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    /// The end, in seconds since 1970-01-01 00:00 UTC.
    public var to: Double
    /// The sum in the unit of the series, not below zero.
    public var value: Double
    /// The part of the value that may belong to a different time range; drawn lighter.
    public var estimated: Double

    /// Creates a bar; `estimated` is limited to 0...`value`.
    public init(from: Double, to: Double, value: Double, estimated: Double = 0) {
        self.from = from
        self.to = to
        self.value = value
        self.estimated = min(max(estimated, 0), max(value, 0))
    }

    var isDrawable: Bool {
        abs(from) <= Series.largestTime && abs(to) <= Series.largestTime && from < to
            && (0...Series.largestValue).contains(value)
    }
}

/// A named line or row of bars of a chart. Values that are not finite, or too large for a measurement, are left out and
/// become part of a gap. Everything is sorted by time.
public struct Series: Hashable, Sendable {
    /// The name in the legend.
    public let name: String
    /// The unit of the values.
    public let unit: ChartUnit
    /// The summaries, sorted by time; all are before the first point.
    public let summaries: [ChartSummary]
    /// The points, sorted by time.
    public let points: [ChartPoint]
    /// The bars, sorted by time. A series with bars has no line.
    public let bars: [ChartBar]
    /// The longest distance of joined neighbours in seconds. No line is drawn between neighbours that are further
    /// apart.
    public let gapLimit: Double

    /// The limit of values. It stops sums, differences and integer conversions from overflowing.
    static let largestValue = 1e15
    /// The limit of times in seconds (about 30,000 years). It stops the calendar's integer arithmetic from overflowing.
    static let largestTime = 1e12

    /// Creates a line.
    ///
    /// - Parameters:
    ///   - name: The name in the legend.
    ///   - unit: The unit of the values.
    ///   - summaries: Summaries of the time before the points, in any order. Use summaries for a time with too many
    ///     points. Points before the end of the last summary are left out, since the summary includes them.
    ///   - points: The points in any order. Sorted arrays are not copied.
    ///   - gapLimit: The longest distance of joined neighbours in seconds; by default all neighbours are joined.
    public init(
        name: String, unit: ChartUnit, summaries: [ChartSummary] = [], points: [ChartPoint],
        gapLimit: Double = .infinity
    ) {
        self.name = name
        self.unit = unit
        self.gapLimit = gapLimit
        let drawable = summaries.filter(\.isDrawable)
        let ascending = zip(drawable, drawable.dropFirst()).allSatisfy { $0.to <= $1.from }
        self.summaries = ascending ? drawable : Series.disjoint(drawable)
        let end = self.summaries.last?.to
        let known = Series.drawable(points)
        self.points = end.map { end in Array(known[Series.index(in: known, atOrAfter: end)...]) } ?? known
        bars = []
    }

    /// Creates a row of bars from `bars`, which may be in any order.
    public init(name: String, unit: ChartUnit, bars: [ChartBar]) {
        self.name = name
        self.unit = unit
        gapLimit = .infinity
        summaries = []
        points = []
        self.bars = bars.filter(\.isDrawable).sorted { $0.from < $1.from }
    }

    private static func disjoint(_ summaries: [ChartSummary]) -> [ChartSummary] {
        summaries.sorted { $0.from < $1.from }.reduce(into: []) { kept, summary in
            if kept.last.map({ $0.to <= summary.from }) ?? true { kept.append(summary) }
        }
    }

    private static func drawable(_ points: [ChartPoint]) -> [ChartPoint] {
        var ascending = true
        var valid = true
        var previous = -largestTime
        for point in points {
            // A comparison with NaN is false, so these conditions also detect NaN.
            valid = valid && abs(point.value) <= largestValue && abs(point.time) <= largestTime
            ascending = ascending && point.time >= previous
            previous = point.time
        }
        guard !valid || !ascending else { return points }
        var kept = points
        if !valid { kept.removeAll { !(abs($0.value) <= largestValue && abs($0.time) <= largestTime) } }
        if !ascending { kept.sort { $0.time < $1.time } }
        return kept
    }

    private static func index(in points: [ChartPoint], atOrAfter time: Double) -> Int {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the points with `from <= time <= to`.
    func points(in window: ChartWindow) -> ArraySlice<ChartPoint> {
        let start = Series.index(in: points, atOrAfter: window.from)
        var end = Series.index(in: points, atOrAfter: window.to)
        while end < points.count, points[end].time <= window.to { end += 1 }
        return points[start..<max(start, end)]
    }

    /// Returns the summaries that overlap the window.
    func summaries(in window: ChartWindow) -> ArraySlice<ChartSummary> {
        guard !summaries.isEmpty else { return [] }
        let start = summaries.firstIndex { $0.to > window.from } ?? summaries.count
        let end = summaries[start...].firstIndex { $0.from >= window.to } ?? summaries.count
        return summaries[start..<end]
    }

    /// Returns the bars that overlap the window.
    func bars(in window: ChartWindow) -> [ChartBar] {
        bars.filter { $0.to > window.from && $0.from < window.to }
    }

    var firstTime: Double? { summaries.first?.from ?? points.first?.time ?? bars.first?.from }
    var lastTime: Double? { points.last?.time ?? summaries.last?.to ?? bars.last?.to }
}
