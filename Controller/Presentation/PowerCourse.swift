public import Charting
import LinuxClocks
import Metering
public import PlugClient
import PlugModel
import ProtocolCore

/// A plug's active power: what a history kept of it, then the samples that the plug itself kept and the readings that it sends.
public struct PowerCourse: Sendable {
    /// Seconds. Longer without a sample is a hole, as it is to the history: drawn as one, and without energy.
    private static let gapLimit = 30.0
    /// Points kept: a week at one a second.
    private static let limit = 604_800

    public let plug: String
    public let kept: KeptCourse
    /// In the order of time.
    private var points: [Point] = []
    private var clock: ClockMapping?

    private struct Point: Sendable {
        /// The controller's clock.
        var time: Instant
        var watts: Double
    }

    public init(plug: String, kept: KeptCourse = KeptCourse()) {
        self.plug = plug
        self.kept = kept
    }

    /// What the plug had kept.
    public mutating func take(_ samples: [PlugSample]) {
        add(samples.map { ($0.sample.time, $0.sample.activePower) })
    }

    public mutating func take(_ report: PlugReport) {
        switch report.update {
        case .connected(let description): clock = description.clock
        case .snapshot(let state), .state(let state):
            if let reading = state.reading { add([(reading.time, reading.activePower)]) }
        case .following, .event, .gap, .log, .disconnected: break
        }
    }

    /// All of it as a line. What the history has goes before what the plug says of the same time.
    public var series: Series {
        Series(
            name: plug, unit: .watts, summaries: kept.summaries, points: kept.points + newer, gapLimit: Self.gapLimit)
    }

    /// One JSON object for each summary and point between two times, seconds since 1970.
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

    /// The energy of what the history does not have yet, between two times in seconds since 1970: mWh, and the seconds of which
    /// there are samples.
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

    /// What the plug said of the time after that which the history has.
    var newer: [ChartPoint] {
        let bootToWall = Double(WallTime.now.nanosecondsSince1970) / 1e9 - (BootClock.now - .zero).inSeconds
        let end = kept.newest ?? -.infinity
        // The two clocks do not agree to the millisecond.
        let begin = points.firstIndex { ($0.time - .zero).inSeconds + bootToWall > end + 0.1 } ?? points.endIndex
        return points[begin...].map {
            ChartPoint(time: ($0.time - .zero).inSeconds + bootToWall, value: $0.watts)
        }
    }

    private mutating func add(_ new: [(time: Instant, watts: Double)]) {
        guard let clock else { return }
        for (time, watts) in new {
            // A sample has whole milliseconds of the plug's clock; a reading of the same moment is the same point.
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

/// One sample, or what sums up many, as `plugctl chart --json` prints it.
public struct SampleRecord: Codable, Hashable, Sendable {
    public var plug: String
    /// ISO 8601, UTC, milliseconds. Of a summary its beginning.
    public var at: String
    /// W. Of a summary the mean.
    public var activePower: Double
    /// W; of summaries alone.
    public var minActivePower: Double?
    public var maxActivePower: Double?
    /// Seconds that were measured; of summaries alone.
    public var covered: Double?
}

extension WallTime {
    /// - Parameter seconds: since 1970; beyond the years 1700 to 2200 it is cut.
    init(seconds: Double) {
        self.init(nanosecondsSince1970: Int64(min(max(seconds, -8.5e9), 7.2e9) * 1e9))
    }
}
