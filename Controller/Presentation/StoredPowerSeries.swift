public import Charting
public import PowerHistory

/// A plug's active power from the history. A time span of up to 26 hours is read as samples, or as summaries if the
/// history has deleted these samples. A longer span is read as summaries, followed by the samples after the last
/// complete summary.
public struct StoredPowerSeries: Hashable, Sendable {
    /// Summaries in order of time. All are earlier than ``points``.
    public var summaries: [ChartSummary] = []
    /// Samples in order of time.
    public var points: [ChartPoint] = []
    /// The times with damaged data, in seconds since 1970.
    public var damaged: [ClosedRange<Double>] = []

    /// True if the limit of samples was reached, so that later samples may be missing.
    public private(set) var isCut = false

    /// The time of the newest sample in the history, even if it is not included, in seconds since 1970.
    public var newest: Double?

    /// Creates an empty series.
    ///
    /// - Parameter plug: the plug; nil if the history does not know it.
    public init(newestOf plug: HistoryPlug? = nil) { newest = plug?.span.map { Double($0.upperBound) / 1000 } }

    /// The longest time span in milliseconds that is read as samples only. A day of samples is read within
    /// milliseconds.
    static let longestOfSamples: Int64 = 26 * 3_600_000
    /// The maximum number of samples, about twice the number of 26 hours at one per second. It limits the data of plugs
    /// that measure more often, and of forged chunks.
    private static let mostSamples = 200_000
    /// The minimum number of summaries per column; with fewer, the curve would look like a staircase.
    private static let leastDensity = 1.5

    /// Reads the series from the history.
    ///
    /// - Parameters:
    ///   - plug: the plug.
    ///   - history: the history.
    ///   - span: the time in milliseconds since 1970, both ends included.
    ///   - columns: the number of columns in the drawing.
    /// - Throws: `HistoryError` if the history cannot be read.
    public init(
        of plug: HistoryPlug, from history: PowerHistory, over span: ClosedRange<Int64>, columns: Int
    ) throws(HistoryError) {
        self.init(newestOf: plug)
        guard let known = plug.span, known.overlaps(span) else { return }
        guard let step = Self.step(of: span, columns: columns) else {
            try readSamples(of: plug, from: history, over: span)
            return
        }
        let length = step.milliseconds
        // The current, unfinished step is drawn from its samples.
        let end = min(known.upperBound, span.upperBound) / length * length
        try readBeginning(of: plug, from: history, span.lowerBound, before: step, end: end)
        let begin = Self.multiple(of: length, from: span.lowerBound)
        if begin < end {
            summaries += try history.summaries(of: plug.id, step: step, from: begin, to: end - 1).map {
                ChartSummary($0, length: length)
            }
        }
        try readSamples(of: plug, from: history, over: max(end, span.lowerBound)...span.upperBound)
    }

    /// Reads the incomplete step at the beginning from shorter steps, so that nothing before the start of the span is
    /// shown.
    private mutating func readBeginning(
        of plug: HistoryPlug, from history: PowerHistory, _ from: Int64, before longest: RollUpStep, end: Int64
    ) throws(HistoryError) {
        let steps = RollUpStep.allCases.filter { $0.milliseconds <= longest.milliseconds }
        var begin = from
        for (step, longer) in zip(steps, steps.dropFirst()) {
            let next = min(Self.multiple(of: longer.milliseconds, from: begin), end)
            let first = Self.multiple(of: step.milliseconds, from: begin)
            if first < next {
                summaries += try history.summaries(of: plug.id, step: step, from: first, to: next - 1).map {
                    ChartSummary($0, length: step.milliseconds)
                }
            }
            begin = max(begin, next)
        }
    }

    /// Returns the first multiple of `length` at or after `time`.
    private static func multiple(of length: Int64, from time: Int64) -> Int64 {
        let rest = time % length
        return rest == 0 ? time : time - rest + (rest > 0 ? length : 0)
    }

    private mutating func readSamples(
        of plug: HistoryPlug, from history: PowerHistory, over span: ClosedRange<Int64>
    ) throws(HistoryError) {
        var points: [ChartPoint] = []
        points.reserveCapacity(Int(min(span.upperBound - span.lowerBound, Self.longestOfSamples) / 1000) + 1)
        let unreadable = try history.samples(
            of: plug.id, from: span.lowerBound, to: span.upperBound, atMost: Self.mostSamples
        ) { time, sample in points.append(ChartPoint(time: Double(time) / 1000, value: sample.activePower)) }
        damaged += unreadable.map { Double($0.lowerBound) / 1000...Double($0.upperBound) / 1000 }
        self.points = points
        isCut = points.count >= Self.mostSamples
        // Old samples are deleted before their summaries. Without samples, the shortest available summaries are used.
        guard points.isEmpty, summaries.isEmpty else { return }
        for step in RollUpStep.allCases where summaries.isEmpty {
            summaries = try history.summaries(
                of: plug.id, step: step, from: span.lowerBound / step.milliseconds * step.milliseconds,
                to: span.upperBound
            ).map { ChartSummary($0, length: step.milliseconds) }
        }
    }

    /// Returns the longest step with enough summaries for the columns, or nil to use samples.
    static func step(of span: ClosedRange<Int64>, columns: Int) -> RollUpStep? {
        let length = span.upperBound - span.lowerBound
        guard length > longestOfSamples else { return nil }
        return RollUpStep.allCases.last {
            Double(length / $0.milliseconds) >= Double(max(columns, 1)) * leastDensity
        } ?? .minute
    }
}

extension ChartSummary {
    init(_ summary: PowerSummary, length: Int64) {
        self.init(
            from: Double(summary.start) / 1000, to: Double(summary.start + length) / 1000,
            covered: Double(summary.coveredMilliseconds) / 1000, mean: summary.mean, least: summary.least,
            greatest: summary.greatest)
    }
}
