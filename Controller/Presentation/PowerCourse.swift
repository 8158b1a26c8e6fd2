public import Charting
import LinuxNetwork
import LocalCalendar
import Metering
public import PlugClient
import PlugProtocol
import ProtocolCore

/// A plug's active power over the last minutes, from the samples that it kept and the readings that it sends.
public struct PowerCourse: Sendable {
    /// Longer without a sample is a hole, and drawn as one.
    private static let gapLimit = 15.0
    /// Points kept: a week at one a second.
    private static let limit = 604_800

    private let plug: String
    private let span: Duration
    /// In the order of time.
    private var points: [Point] = []
    private var clock: ClockMapping?

    private struct Point: Sendable {
        /// The controller's clock.
        var time: Instant
        var watts: Double
    }

    public init(plug: String, span: Duration) {
        self.plug = plug
        self.span = span
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

    /// One JSON object for each point.
    public var records: [SampleRecord] {
        let (wall, now) = (WallTime.now, BootClock.now)
        return points.map {
            SampleRecord(plug: plug, at: (wall - (now - $0.time)).iso8601(), activePower: $0.watts)
        }
    }

    /// The last `span` up to now.
    public var chart: Chart {
        let now = WallTime.now
        let seconds = Double(now.nanosecondsSince1970) / 1e9
        let bootToWall = seconds - (BootClock.now - .zero).inSeconds
        let shown = points.map { ChartPoint(time: ($0.time - .zero).inSeconds + bootToWall, value: $0.watts) }
        let series = Series(name: plug, unit: .watts, points: shown, gapLimit: Self.gapLimit)
        return Chart(
            title: "\(plug), active power", series: [series],
            window: ChartWindow(from: seconds - span.inSeconds, to: seconds),
            zone: ZoneOffsets(initial: now.localOffset))
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

/// One sample as `plugctl chart --once --json` prints it.
public struct SampleRecord: Encodable, Equatable, Sendable {
    public var plug: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// W.
    public var activePower: Double
}
