public import Charting
public import PowerHistory

/// What the history has of a plug's active power over a time: summaries where samples would be more than a drawing shows,
/// then samples.
public struct KeptCourse: Hashable, Sendable {
    public var summaries: [ChartSummary] = []
    public var points: [ChartPoint] = []
    /// Times of which something was stored that cannot be read, seconds since 1970.
    public var damaged: [ClosedRange<Double>] = []

    /// There are more samples than these.
    public private(set) var isCut = false

    /// The newest sample that the history has, whether it is shown or not: seconds since 1970.
    public var newest: Double?

    /// - Parameter plug: nil where the history does not know it. Nothing is shown of it.
    public init(newestOf plug: HistoryPlug? = nil) { newest = plug?.span.map { Double($0.upperBound) / 1000 } }

    /// A day of samples is read in milliseconds, and shows all that there is.
    static let longestOfSamples: Int64 = 26 * 3_600_000
    /// One a second of that time twice over. A plug that measures more often, or whose chunks somebody made up, is shown up to there.
    private static let mostSamples = 200_000
    /// Summaries a column, at least: with fewer the curve would have steps.
    private static let leastDensity = 1.5

    /// - Parameters:
    ///   - span: milliseconds since 1970, both included.
    ///   - columns: how many columns the drawing has for it.
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
        // The stretch that is not over yet is drawn from its samples.
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

    /// What is not a whole step at the beginning, from shorter ones: nothing of before is shown.
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

    /// The first that is not before `time`.
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
        // Samples are forgotten before what sums them up.
        guard points.isEmpty, summaries.isEmpty else { return }
        for step in RollUpStep.allCases where summaries.isEmpty {
            summaries = try history.summaries(
                of: plug.id, step: step, from: span.lowerBound / step.milliseconds * step.milliseconds,
                to: span.upperBound
            ).map { ChartSummary($0, length: step.milliseconds) }
        }
    }

    /// The longest step that still fills the columns; nil where samples do.
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
