/// The accuracy of a detector of finished cycles, compared with the true cycles.
public struct Score: Sendable {
    /// The number of cycles after which a detector should have learned the appliance.
    static let learning = 5

    /// The number of true cycles.
    public var trueCycles = 0
    /// The number of true cycles with a report after their end. A report without an end counts only until the
    /// next cycle starts.
    public var found = 0
    /// The number of wrong reports: duplicates, reports whose end matches no cycle, and reports without an end that
    /// arrive during a cycle or before the end of the first one.
    public var wrong = 0
    /// The delays of the reports of the first five cycles in seconds, in ascending order.
    public var firstDelays: [Double] = []
    /// The delays of the reports of all later cycles in seconds, in ascending order.
    public var laterDelays: [Double] = []
    /// The number of cycles that had ended before the first report; nil without a report.
    public var cyclesBeforeReport: Int?

    /// The number of true cycles without a report.
    public var missed: Int { trueCycles - found }
    /// The delays of all reports in seconds, in ascending order.
    public var delays: [Double] { (firstDelays + laterDelays).sorted() }
    /// The longest delay in seconds, or nil without a report.
    public var longestDelay: Double? { delays.last }

    /// Returns the median of sorted delays, or nil for an empty list.
    public static func median(_ delays: [Double]) -> Double? { delays.isEmpty ? nil : delays[delays.count / 2] }

    /// Compares reports with the true cycles; all times are in milliseconds.
    ///
    /// - Parameters:
    ///   - said: the reports in ascending order, each with its time and the reported end of the cycle. A rule that
    ///     reports no end has nil, which selects the last cycle before the report.
    ///   - holes: the gaps of the recording. For a true end in a gap, every reported end in that gap is accepted.
    ///   - loads: the ends of loads within cycles. A report with such an end is neither wrong nor that of a cycle.
    public init(
        of said: [(at: Int64, end: Int64?)], against cycles: [ClosedRange<Int64>], holes: [ClosedRange<Int64>] = [],
        loads: [Int64] = []
    ) {
        trueCycles = cycles.count
        cyclesBeforeReport = said.first.map { first in cycles.count { $0.upperBound < first.at } }
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
                if let end, loads.contains(where: { abs($0 - end) <= Self.tolerance }) { continue }
                wrong += 1
                continue
            }
            found += 1
            let delay = Double(at - cycles[cycle].upperBound) / 1000
            if cycle < Self.learning { firstDelays.append(delay) } else { laterDelays.append(delay) }
        }
        firstDelays.sort()
        laterDelays.sort()
    }

    /// Adds the results for another appliance. The number of cycles before the first report becomes the larger one.
    mutating func add(_ other: Score) {
        trueCycles += other.trueCycles
        found += other.found
        wrong += other.wrong
        firstDelays = (firstDelays + other.firstDelays).sorted()
        laterDelays = (laterDelays + other.laterDelays).sorted()
        cyclesBeforeReport = [cyclesBeforeReport, other.cyclesBeforeReport].compactMap { $0 }.max()
    }

    /// The tolerance of a cycle's end in milliseconds: the sample at which the power falls may belong to either side.
    static let tolerance: Int64 = 10_000
}

/// The rule "finished when below 5 W for some time", which is the usual first attempt.
public enum NaiveRule {
    /// Returns the times in milliseconds at which the rule fires.
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
