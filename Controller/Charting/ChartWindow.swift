/// The time range of a chart. A live chart is drawn again with a later window.
public struct ChartWindow: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let from: Double
    /// The end in seconds since 1970-01-01 00:00 UTC, at least one second after `from`.
    public let to: Double

    /// Creates a window. It is at least one second long: a shorter or reversed range is extended to the right.
    public init(from: Double, to: Double) {
        let limit = Series.largestTime
        let start = from.isFinite ? min(max(from, -limit), limit) : 0
        let end = to.isFinite ? min(max(to, -limit), limit) : start
        self.from = start
        self.to = max(end, start + 1)
    }

    /// Creates the window from the first to the last time of all series; the first second of 1970 if they are empty.
    public init(covering series: [Series]) {
        let first = series.compactMap(\.firstTime).min() ?? 0
        let last = series.compactMap(\.lastTime).max() ?? first
        self.init(from: first, to: last)
    }

    /// The length in seconds.
    public var length: Double { to - from }
}
