import Automation
import Metering
import PlugModel
import PowerHistory
import ProtocolCore

/// When a plug was switched that nobody wrote it down of, such as one that was recorded elsewhere: by its power. It is on from a quarter
/// of the way up from its usual lowest minute to its highest one, at least 2 W above the lowest, and off again at half of that.
struct OnLevel: Hashable, Sendable {
    /// Tenths of a watt: on from here, and off below.
    let on: Int32
    let off: Int32
    var isOn = false

    /// Minutes are read of so long a time, and quarters of an hour of a longer one.
    private static let longestOfMinutes: Int64 = 7 * 86_400_000

    /// - Parameter span: milliseconds since 1970.
    /// - Returns: nil where its power never changes by more than 2 W.
    init?(of plug: PlugID, over span: ClosedRange<Int64>, from history: PowerHistory) throws(HistoryError) {
        let step = span.upperBound - span.lowerBound > Self.longestOfMinutes ? RollUpStep.quarter : .minute
        let means = try history.summaries(of: plug, step: step, from: span.lowerBound, to: span.upperBound).map(\.mean)
            .sorted()
        // One in twenty may be lower: a meter that starts says nothing for a moment.
        guard let top = means.last, top - means[means.count / 20] > 2 else { return nil }
        let base = means[means.count / 20]
        let rise = max(2, (top - base) / 4)
        (on, off) = (Self.deciwatts(base + rise), Self.deciwatts(base + rise / 2))
    }

    /// - Returns: whether it was switched.
    mutating func take(_ sample: RecordedPower) -> Bool {
        let before = isOn
        isOn = sample.deciwatts >= (isOn ? off : on)
        return isOn != before
    }

    private static func deciwatts(_ watts: Double) -> Int32 { Int32(clamping: Int64((watts * 10).rounded())) }
}

/// What a plug takes, counted from its samples: what the plug's own counter said is known of some moments alone.
struct EnergyCount: Sendable {
    /// Rules hear of it so often, in milliseconds.
    private static let interval: Int64 = 15_000
    /// Longer without a sample is a hole without energy.
    private static let gap: Int64 = 30_000

    struct Mark: Sendable {
        var time: Int64
        var milliwattHours: UInt64

        var instant: Instant { Backtest.instant(time) }
    }

    /// Of the samples at hand.
    private var marks: [Mark] = []
    /// All before it are told.
    private var next = 0
    /// All before it, and after ``next``, are quiet.
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

    /// What is quiet now; where that has changed, what was passed over is looked at again.
    mutating func take(_ quiet: QuietEnergy?) {
        guard quiet != self.quiet else { return }
        (self.quiet, scanned) = (quiet, next)
    }

    /// When the next one is that has to be told, or comes at the barrier or after it.
    mutating func nextMark(before barrier: Int64) -> Int64? {
        while scanned < marks.count, marks[scanned].time < barrier,
            quiet?.contains(marks[scanned].milliwattHours, now: marks[scanned].instant) ?? false
        {
            scanned += 1
        }
        return scanned < marks.count ? marks[scanned].time : nil
    }

    /// Takes the one that has to be told.
    mutating func take() -> UInt64 {
        defer { (next, scanned) = (scanned + 1, scanned + 1) }
        return marks[scanned].milliwattHours
    }

    /// Takes the quiet ones up to a time.
    /// - Returns: the last of them.
    mutating func settle(through time: Int64) -> Mark? {
        guard next < scanned, marks[next].time <= time else { return nil }
        while next < scanned, marks[next].time <= time { next += 1 }
        return marks[next - 1]
    }
}
