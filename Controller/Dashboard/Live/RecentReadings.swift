import Charting
import DequeModule

/// The recent active power of a plug. The history fetches samples only every ten minutes. For the time since the last
/// fetch, charts use these readings.
struct RecentReadings: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        /// Milliseconds since 1970.
        var milliseconds: Int64
        var deciwatts: Int32
    }

    /// The stored time in milliseconds: twice the interval at which the history fetches samples, so that one failed
    /// fetch leaves no gap.
    static let span: Int64 = 20 * 60_000
    /// The maximum number of readings: one per second of ``span``, which needs 20 KB per plug.
    static let limit = 1200

    private var samples: Deque<Sample> = []

    var count: Int { samples.count }

    /// Adds a reading. If the time of a reading is more than ten seconds before that of the previous one, the wall
    /// clock was set back, and the reading replaces all previous ones. Any other reading that is not later than the
    /// previous one is ignored. A second reading within the same second replaces the first.
    ///
    /// - Parameter milliseconds: since 1970.
    mutating func add(_ deciwatts: Int32, at milliseconds: Int64) {
        let sample = Sample(milliseconds: milliseconds, deciwatts: deciwatts)
        if let last = samples.last {
            // The wall clock was set back by more than ten seconds, so the stored readings have wrong times.
            if milliseconds < last.milliseconds - 10_000 { samples.removeAll() }
            if !samples.isEmpty, milliseconds <= last.milliseconds { return }
            if milliseconds / 1000 == last.milliseconds / 1000, !samples.isEmpty { samples.removeLast() }
        }
        samples.append(sample)
        while samples.count > Self.limit || samples[0].milliseconds < milliseconds - Self.span { samples.removeFirst() }
    }

    /// Returns the readings in a closed range of milliseconds since 1970.
    func points(from: Int64, to: Int64) -> [ChartPoint] {
        samples.lazy.filter { $0.milliseconds >= from && $0.milliseconds <= to }.map {
            ChartPoint(time: Double($0.milliseconds) / 1000, value: Double($0.deciwatts) / 10)
        }
    }
}
