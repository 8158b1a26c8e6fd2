/// How well something that says "finished" does, against the true cycles.
public struct Score: Sendable {
    public var trueCycles = 0
    /// True cycles after whose end, and before the next, it was said.
    public var found = 0
    /// Said once too often, in the midst of a cycle, or where there was none.
    public var wrong = 0
    /// From the end to when it was said, in seconds, in ascending order.
    public var delays: [Double] = []

    public var missed: Int { trueCycles - found }
    public var medianDelay: Double? { delays.isEmpty ? nil : delays[delays.count / 2] }
    public var longestDelay: Double? { delays.last }

    /// - Parameters:
    ///   - said: when it was said, in ascending order.
    ///     For each, which end it was said of; a rule that knows of none means the last before.
    ///   - holes: an end in one of them cannot be known better than that.
    public init(
        of said: [(at: Int64, end: Int64?)], against cycles: [ClosedRange<Int64>], holes: [ClosedRange<Int64>] = []
    ) {
        trueCycles = cycles.count
        var told: Set<Int> = []
        let ends = cycles.map { cycle in
            let hole = holes.first { $0.contains(cycle.upperBound) } ?? cycle.upperBound...cycle.upperBound
            return hole.lowerBound - Self.tolerance...hole.upperBound + Self.tolerance
        }
        for (at, end) in said {
            let cycle =
                if let end { ends.firstIndex { $0.contains(end) && at >= end } } else {
                    cycles.lastIndex { $0.upperBound <= at }
                }
            let isWithin = end == nil && cycles.contains { $0.lowerBound < at && at < $0.upperBound }
            guard let cycle, !isWithin, told.insert(cycle).inserted else {
                wrong += 1
                continue
            }
            found += 1
            delays.append(Double(at - cycles[cycle].upperBound) / 1000)
        }
        delays.sort()
    }

    /// By how much a cycle's end may differ from the true one: the sample at which power falls may count to either.
    static let tolerance: Int64 = 10_000
}

/// "Finished when below 5 W for so long", which most people write first.
public enum NaiveRule {
    public static func firings(in points: [PowerScript.Point], below deciwatts: Int32 = 50, seconds: Int64) -> [Int64] {
        var firings: [Int64] = []
        var since: Int64?
        var isArmed = false
        for point in points {
            guard point.deciwatts < deciwatts else {
                (since, isArmed) = (nil, true)
                continue
            }
            let start = since ?? point.milliseconds
            since = start
            if isArmed, point.milliseconds - start >= seconds * 1000 {
                firings.append(point.milliseconds)
                isArmed = false
            }
        }
        return firings
    }
}
