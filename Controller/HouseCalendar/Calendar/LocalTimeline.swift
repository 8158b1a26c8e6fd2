/// Converts a series of local times to UTC. The order of the series decides which pass of a repeated hour is meant: the
/// first pass is daylight saving time, the second is standard time. All times are in milliseconds; local times count
/// from 1970-01-01 00:00 local time.
public struct LocalTimeline: Sendable {
    /// The threshold for a step back within a repeated hour. A smaller step is a correction of the clock; a step of
    /// this length or more starts the second pass.
    public static let setting: Int64 = 600_000

    /// In a series whose times are at least this far apart, a local time that is repeated belongs to the first pass at
    /// its first appearance, and to the second pass at its second appearance.
    private static let hour: Int64 = 3_600_000

    /// A span of UTC with a constant offset. The end is excluded.
    private struct Span {
        var begin: Int64
        var end: Int64
        var offset: Int64

        var local: Range<Int64> { begin + offset..<end + offset }
    }

    private enum Reading {
        case once(Int64)
        /// The clock shows the local time twice, at these two UTC times. It was set back at `change`, between them.
        case twice(Int64, Int64, change: Int64)
        case never
    }

    private let spans: [Span]
    /// A range of local times, around the last converted time, in which only one offset is possible. The next time of
    /// the series is almost always in this range.
    private var plain: (local: Range<Int64>, offset: Int64)?
    private var last: (local: Int64, universal: Int64, change: Int64?, isSecond: Bool, sincePrevious: Int64)?

    /// Creates a timeline without preceding times.
    public init(zone: ZoneOffsets) {
        // This time is later than all dates, and small enough that sums do not overflow.
        let end = Int64.max / 8
        let begins = [-end] + zone.transitions.map { Int64(($0.time * 1000).rounded()) }
        let offsets = ([zone.initial] + zone.transitions.map(\.seconds)).map { Int64($0) * 1000 }
        spans = zip(zip(begins, begins.dropFirst() + [end]), offsets).map {
            Span(begin: $0.0, end: max($0.0, $0.1), offset: $1)
        }
    }

    /// Returns the UTC time of the next local time in the series.
    ///
    /// - Returns: milliseconds since 1970, UTC; nil for a time that the clock skips.
    public mutating func universal(_ local: Int64) -> Int64? {
        let found: (universal: Int64, change: Int64?, isSecond: Bool)
        switch reading(local) {
        case .never: return nil
        case .once(let time): found = (time, nil, false)
        case .twice(let first, let second, let change):
            let isSecond = isSecondPass(local, second, change)
            found = (isSecond ? second : first, change, isSecond)
        }
        let sincePrevious = last.map { local - $0.local } ?? 0
        last = (local, found.universal, found.change, found.isSecond, sincePrevious)
        return found.universal
    }

    private func isSecondPass(_ local: Int64, _ second: Int64, _ change: Int64) -> Bool {
        guard let last else { return false }
        if last.change == change {
            // In a series of hours, the same time appears again in the second pass.
            let isSameAgain = last.local == local && last.sincePrevious >= Self.hour
            return last.isSecond || last.local - local >= Self.setting || isSameAgain
        }
        // The previous time is shortly after the repeated hour, so the clock was corrected a little within the second
        // pass.
        return last.universal > second && last.universal - second < Self.setting
    }

    private mutating func reading(_ local: Int64) -> Reading {
        if let plain, plain.local.contains(local) { return .once(local - plain.offset) }
        let possible = spans.indices.filter { spans[$0].local.contains(local) }
        guard let index = possible.first, let other = possible.last else { return .never }
        guard index == other else {
            return .twice(local - spans[index].offset, local - spans[other].offset, change: spans[other].begin)
        }
        let own = spans[index].local
        let lower = max(own.lowerBound, index > 0 ? spans[index - 1].local.upperBound : .min)
        let upper = min(own.upperBound, index + 1 < spans.count ? spans[index + 1].local.lowerBound : .max)
        if lower <= local, local < upper { plain = (lower..<upper, spans[index].offset) }
        return .once(local - spans[index].offset)
    }
}
