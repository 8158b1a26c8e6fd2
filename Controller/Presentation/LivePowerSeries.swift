public import Charting
import LinuxSystem
import Metering
public import PlugClient
import PlugModel
import ProtocolCore

/// A plug's active power: the history, then the plug's own stored samples and its live readings.
public struct LivePowerSeries: Sendable {
    /// The longest time in seconds between two samples that are connected, as in the history. A longer time is a gap,
    /// which is drawn as a gap and has no energy.
    private static let gapLimit = 30.0
    /// The limit of points: a week at one per second.
    private static let limit = 604_800

    /// The plug's name.
    public let plug: String
    /// The data of the history.
    public let kept: StoredPowerSeries
    /// The points in the order of time.
    private var points: [Point] = []
    private var clock: ClockMapping?

    private struct Point: Sendable {
        /// The time on the controller's clock.
        var time: Instant
        var watts: Double
    }

    /// Creates a series without live data.
    public init(plug: String, kept: StoredPowerSeries = StoredPowerSeries()) {
        self.plug = plug
        self.kept = kept
    }

    /// Adds samples that the plug had stored.
    public mutating func add(_ samples: [PlugSample]) {
        add(samples.map { ($0.sample.time, $0.sample.activePower) })
    }

    /// Handles a live report of the plug.
    public mutating func handle(_ report: PlugReport) {
        switch report.update {
        case .connected(let description): clock = description.clock
        case .snapshot(let state), .state(let state):
            if let reading = state.reading { add([(reading.time, reading.activePower)]) }
        case .following, .event, .gap, .log, .disconnected: break
        }
    }

    /// The whole series. The history takes precedence over the plug's data of the same time.
    public var series: Series {
        Series(
            name: plug, unit: .watts, summaries: kept.summaries, points: kept.points + newer, gapLimit: Self.gapLimit)
    }

    /// Returns a record per summary and point between two times in seconds since 1970.
    public func records(from: Double, to: Double) -> [SampleRecord] {
        let series = series
        let summaries = series.summaries.filter { $0.to > from && $0.from <= to }.map { summary in
            SampleRecord(
                plug: plug, at: WallTime(seconds: summary.from).iso8601(), activePower: summary.mean,
                minActivePower: summary.least, maxActivePower: summary.greatest, covered: summary.covered)
        }
        let points = series.points.filter { $0.time >= from && $0.time <= to }.map { point in
            SampleRecord(plug: plug, at: WallTime(seconds: point.time).iso8601(), activePower: point.value)
        }
        return summaries + points
    }

    /// Returns the energy between two times in seconds since 1970 that is not in the history yet, in mWh, and the time
    /// between its samples without gaps, in seconds.
    public func newEnergy(from: Double, to: Double) -> (milliwattHours: Double, covered: Double) {
        var wattSeconds = 0.0
        var covered = 0.0
        let points = (kept.points.last.map { [$0] } ?? []) + newer
        for (left, right) in zip(points, points.dropFirst()) {
            let (step, middle) = (right.time - left.time, (left.time + right.time) / 2)
            guard step <= Self.gapLimit, middle >= from, middle < to else { continue }
            wattSeconds += (left.value + right.value) / 2 * step
            covered += step
        }
        return (wattSeconds / 3.6, covered)
    }

    /// The plug's data after the newest sample of the history.
    var newer: [ChartPoint] {
        let bootToWall = Double(WallTime.now.nanosecondsSince1970) / 1e9 - (BootClock.now - .zero).inSeconds
        let end = kept.newest ?? -.infinity
        // The times in the history and those of newer data are separate estimates, which may differ by some
        // milliseconds.
        let begin = points.firstIndex { ($0.time - .zero).inSeconds + bootToWall > end + 0.1 } ?? points.endIndex
        return points[begin...].map {
            ChartPoint(time: ($0.time - .zero).inSeconds + bootToWall, value: $0.watts)
        }
    }

    private mutating func add(_ new: [(time: Instant, watts: Double)]) {
        guard let clock else { return }
        for (time, watts) in new {
            // A sample has whole milliseconds of the plug's clock; a reading of the same moment must become the same
            // point.
            let whole = Instant(nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
            points.append(Point(time: clock.instant(ofPlugTime: whole), watts: watts))
        }
        let end = points.suffix(new.count + 1)
        let inOrder = zip(end, end.dropFirst()).allSatisfy { $0.time < $1.time }
        if !inOrder {
            points.sort { $0.time < $1.time }
            points = points.reduce(into: []) { kept, point in
                if kept.last?.time != point.time { kept.append(point) }
            }
        }
        points.removeFirst(max(0, points.count - Self.limit))
    }
}

/// One sample, or a summary of many, in the output of `plugctl chart --json`.
public struct SampleRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The time, or the beginning of a summary: ISO 8601, UTC, milliseconds.
    public var at: String
    /// Active power in W; for a summary, its mean.
    public var activePower: Double
    /// The lowest active power in W; only for summaries.
    public var minActivePower: Double?
    /// The highest active power in W; only for summaries.
    public var maxActivePower: Double?
    /// The time between samples that are at most 30 s apart, in seconds; only for summaries.
    public var covered: Double?
}

extension WallTime {
    /// Creates a time from seconds.
    ///
    /// - Parameter seconds: the time since 1970, clamped to the years 1700 to 2198.
    init(seconds: Double) {
        self.init(nanosecondsSince1970: Int64(min(max(seconds, -8.5e9), 7.2e9) * 1e9))
    }
}
