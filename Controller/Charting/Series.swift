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

/// What is known of a stretch of time as a whole, such as an hour of a year.
public struct ChartSummary: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    public var to: Double
    /// How many seconds of it were measured.
    public var covered: Double
    public var mean: Double
    public var least: Double
    public var greatest: Double

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

/// A sum over a stretch of time, such as the energy of a day: drawn as a bar from its beginning to its end.
public struct ChartBar: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public var from: Double
    public var to: Double
    /// In the unit of the series, not below zero.
    public var value: Double
    /// The part of the value that is not known to lie in this stretch: drawn lighter.
    public var estimated: Double

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

/// A named line, or row of bars, of a chart. Whatever is put in, what is drawn is finite and in the order of time: what is
/// no number, or too large to be a measurement, is left out and so becomes part of a gap.
public struct Series: Hashable, Sendable {
    public let name: String
    public let unit: ChartUnit
    /// Ascending in time; all before the first point.
    public let summaries: [ChartSummary]
    /// Ascending in time.
    public let points: [ChartPoint]
    /// Ascending in time. A series that has any is no line.
    public let bars: [ChartBar]
    /// Two neighbours further apart than this many seconds have a gap between them, which no line crosses.
    public let gapLimit: Double

    /// Stops sums, differences and integer conversions in the layout from overflowing.
    static let largestValue = 1e15
    /// About 30,000 years: stops the calendar's integer arithmetic from overflowing.
    static let largestTime = 1e12

    /// A line.
    ///
    /// - Parameters:
    ///   - summaries: Of the time before the points, where there are too many points to have them all. In any order; points
    ///     before the end of the last one are left out, since it has them already.
    ///   - points: In any order; already ascending ones are not copied.
    ///   - gapLimit: Seconds; without one, neighbours are always joined.
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

    /// Bars.
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
            // A comparison with NaN is false, so that these two conditions catch it as well.
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

    /// The points with `from <= time <= to`.
    func points(in window: ChartWindow) -> ArraySlice<ChartPoint> {
        let start = Series.index(in: points, atOrAfter: window.from)
        var end = Series.index(in: points, atOrAfter: window.to)
        while end < points.count, points[end].time <= window.to { end += 1 }
        return points[start..<max(start, end)]
    }

    /// The summaries of which any part lies in the window.
    func summaries(in window: ChartWindow) -> ArraySlice<ChartSummary> {
        guard !summaries.isEmpty else { return [] }
        let start = summaries.firstIndex { $0.to > window.from } ?? summaries.count
        let end = summaries[start...].firstIndex { $0.from >= window.to } ?? summaries.count
        return summaries[start..<end]
    }

    /// The bars of which any part lies in the window.
    func bars(in window: ChartWindow) -> [ChartBar] {
        bars.filter { $0.to > window.from && $0.from < window.to }
    }

    var firstTime: Double? { summaries.first?.from ?? points.first?.time ?? bars.first?.from }
    var lastTime: Double? { points.last?.time ?? summaries.last?.to ?? bars.last?.to }
}
