import Metering
import PlugProtocol
import PowerHistory

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
    mutating func take(_ sample: Sample) -> Bool {
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

    /// The time and milliwatt hours of the samples at hand that are told.
    private var marks: [(time: Int64, milliwattHours: UInt64)] = []
    private var next = 0
    private var milliwattMilliseconds = 0.0
    private var last: Sample?

    mutating func count(_ samples: [Sample]) {
        marks.removeSubrange(..<next)
        next = 0
        for sample in samples {
            if let last, sample.milliseconds - last.milliseconds <= Self.gap {
                let mean = (Double(last.deciwatts) + Double(sample.deciwatts)) * 50
                milliwattMilliseconds += max(0, mean) * Double(sample.milliseconds - last.milliseconds)
            }
            if last.map({ $0.milliseconds / Self.interval != sample.milliseconds / Self.interval }) ?? true {
                marks.append((sample.milliseconds, UInt64(milliwattMilliseconds / 3_600_000)))
            }
            last = sample
        }
    }

    /// Of those that lie before a sample that the engine has to be told.
    func nextMark(in samples: [Sample], before index: Int) -> Int64? {
        guard next < marks.count else { return nil }
        let time = marks[next].time
        return index < samples.count && samples[index].milliseconds <= time ? nil : time
    }

    var nextTime: Int64? { next < marks.count ? marks[next].time : nil }

    mutating func take() -> UInt64 {
        defer { next += 1 }
        return marks[next].milliwattHours
    }
}
