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
        let first = series.compactMap(\.firstTime).min() ?? 0
        let last = series.compactMap(\.lastTime).max() ?? first
        self.init(from: first, to: last)
    }

    /// Seconds.
    public var length: Double { to - from }
}
