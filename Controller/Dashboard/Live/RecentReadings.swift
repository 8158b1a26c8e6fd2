import Charting
import DequeModule

/// The active power that a plug said lately, which the history has not fetched yet: it asks every ten minutes.
struct RecentReadings: Hashable, Sendable {
    private struct Sample: Hashable, Sendable {
        /// Since 1970.
        var milliseconds: Int64
        var deciwatts: Int32
    }

    /// Twice as long as the history lets itself wait, so that no hole appears while one round of it fails.
    static let span: Int64 = 20 * 60_000
    /// One a second; twenty kilobytes a plug.
    static let limit = 1200

    private var samples: Deque<Sample> = []

    var count: Int { samples.count }

    /// - Parameter milliseconds: since 1970. What is not later than the one before is left out: it was told twice, or the
    ///   wall clock was set back.
    mutating func take(_ deciwatts: Int32, at milliseconds: Int64) {
        let sample = Sample(milliseconds: milliseconds, deciwatts: deciwatts)
        if let last = samples.last {
            // After the clock was set back by more than a slip, what was before is of no use.
            if milliseconds < last.milliseconds - 10_000 { samples.removeAll() }
            if !samples.isEmpty, milliseconds <= last.milliseconds { return }
            if milliseconds / 1000 == last.milliseconds / 1000, !samples.isEmpty { samples.removeLast() }
        }
        samples.append(sample)
        while samples.count > Self.limit || samples[0].milliseconds < milliseconds - Self.span { samples.removeFirst() }
    }

    /// Those of a time, milliseconds since 1970, both included.
    func points(from: Int64, to: Int64) -> [ChartPoint] {
        samples.lazy.filter { $0.milliseconds >= from && $0.milliseconds <= to }.map {
            ChartPoint(time: Double($0.milliseconds) / 1000, value: Double($0.deciwatts) / 10)
        }
    }
}
