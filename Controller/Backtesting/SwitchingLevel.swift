import Automation
import Metering
import PlugModel
import PowerHistory
import ProtocolCore

/// Detects from a plug's power when it was switched, for plugs without a journal, such as those that were recorded
/// elsewhere. It compares the mean powers of minutes, or of quarter hours in a span of more than a week. The base is
/// the lowest of these means, without the lowest twentieth. The rise is a quarter of the difference between the highest
/// mean and the base, at least 2 W. The plug turns on at the base plus the rise, and off below the base plus half of
/// the rise.
struct SwitchingLevel: Hashable, Sendable {
    /// The levels in deciwatts. A plug that is off counts as on when its power reaches `on`, and a plug that is on
    /// counts as off when its power is below `off`.
    let on: Int32
    let off: Int32
    var isOn = false

    /// The longest span, in milliseconds, for which minutes are read. For a longer span, quarter hours are read.
    private static let longestOfMinutes: Int64 = 7 * 86_400_000

    /// Determines the levels.
    ///
    /// - Parameter span: Milliseconds since 1970.
    /// - Returns: Nil if the highest mean is at most 2 W above the base, or if no mean is recorded.
    init?(of plug: PlugID, over span: ClosedRange<Int64>, from history: PowerHistory) throws(HistoryError) {
        let step = span.upperBound - span.lowerBound > Self.longestOfMinutes ? RollUpStep.quarter : .minute
        let means = try history.summaries(of: plug, step: step, from: span.lowerBound, to: span.upperBound).map(\.mean)
            .sorted()
        // The lowest twentieth is ignored: a meter that starts may show no power for a moment.
        guard let top = means.last, top - means[means.count / 20] > 2 else { return nil }
        let base = means[means.count / 20]
        let rise = max(2, (top - base) / 4)
        (on, off) = (Self.deciwatts(base + rise), Self.deciwatts(base + rise / 2))
    }

    /// - Returns: True if the sample shows that the plug was switched.
    mutating func add(_ sample: RecordedPower) -> Bool {
        let before = isOn
        isOn = sample.deciwatts >= (isOn ? off : on)
        return isOn != before
    }

    private static func deciwatts(_ watts: Double) -> Int32 { Int32(clamping: Int64((watts * 10).rounded())) }
}

/// Counts a plug's energy from its samples, because the readings of the plug's own counter are known only for few
/// moments.
struct EnergyCount: Sendable {
    /// The interval at which rules receive the energy, in milliseconds.
    private static let interval: Int64 = 15_000
    /// The longest time between two samples whose energy is counted, in milliseconds.
    private static let gap: Int64 = 30_000

    /// The energy counted up to a time, in milliseconds since 1970. Rules receive the energy at these times.
    struct Mark: Sendable {
        var time: Int64
        var milliwattHours: UInt64

        var instant: Instant { Backtest.instant(time) }
    }

    /// The marks of the current samples, in ascending order of time.
    private var marks: [Mark] = []
    /// The index of the first mark that the engine does not know.
    private var next = 0
    /// The marks from ``next`` up to this index are quiet: the engine need not receive them one by one.
    private var scanned = 0
    private var quiet: QuietEnergy?
    private var milliwattMilliseconds = 0.0
    private var last: Sample?

    mutating func count(_ samples: ArraySlice<Sample>) {
        marks.removeSubrange(..<next)
        (next, scanned) = (0, scanned - next)
        for sample in samples {
            if let last, sample.milliseconds - last.milliseconds <= Self.gap {
                let mean = (Double(last.deciwatts) + Double(sample.deciwatts)) * 50
                milliwattMilliseconds += max(0, mean) * Double(sample.milliseconds - last.milliseconds)
            }
            if last.map({ $0.milliseconds / Self.interval != sample.milliseconds / Self.interval }) ?? true {
                marks.append(
                    Mark(time: sample.milliseconds, milliwattHours: UInt64(milliwattMilliseconds / 3_600_000)))
            }
            last = sample
        }
    }

    /// Sets the quiet range of the engine. If it has changed, all marks that the engine does not know are checked
    /// again.
    mutating func setQuiet(_ quiet: QuietEnergy?) {
        guard quiet != self.quiet else { return }
        (self.quiet, scanned) = (quiet, next)
    }

    /// Returns the time of the next mark that is not quiet, or that is at or after `barrier`; nil if no such mark is in
    /// memory.
    mutating func nextMark(before barrier: Int64) -> Int64? {
        while scanned < marks.count, marks[scanned].time < barrier,
            quiet?.contains(marks[scanned].milliwattHours, now: marks[scanned].instant) ?? false
        {
            scanned += 1
        }
        return scanned < marks.count ? marks[scanned].time : nil
    }

    /// Returns the energy of the next mark that is not quiet, and removes it.
    mutating func take() -> UInt64 {
        defer { (next, scanned) = (scanned + 1, scanned + 1) }
        return marks[scanned].milliwattHours
    }

    /// Removes the quiet marks up to a time.
    ///
    /// - Returns: The last removed mark; nil if none was removed.
    mutating func settle(through time: Int64) -> Mark? {
        guard next < scanned, marks[next].time <= time else { return nil }
        while next < scanned, marks[next].time <= time { next += 1 }
        return marks[next - 1]
    }
}
