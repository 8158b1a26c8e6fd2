public import Charting
public import HouseCalendar
import LinuxSystem
public import PlugClient
public import PowerHistory

/// The data of a chart: the power series of its plugs, and events.
public struct ChartSource: Sendable {
    /// The maximum number of marks, far more than a user can distinguish. The marks that were added first are removed
    /// first.
    private static let markLimit = 10_000

    /// The power series of the plugs, one per plug.
    public var courses: [LivePowerSeries]
    /// The marks in the order in which they were added.
    public private(set) var marks: [ChartMark] = []
    /// The cycles of appliances, such as a wash.
    public var spans: [ChartSpan]

    /// Creates a source without marks.
    public init(courses: [LivePowerSeries], spans: [ChartSpan] = []) {
        self.courses = courses
        self.spans = spans
    }

    /// Returns a chart of the active power.
    ///
    /// - Parameters:
    ///   - seconds: the time of the chart in seconds since 1970.
    ///   - style: the arrangement of several lines.
    ///   - zone: the time zone of the time axis.
    public func chart(_ seconds: ClosedRange<Double>, style: ChartStyle = .overlaid, zone: ZoneOffsets) -> Chart {
        let names = courses.map(\.plug).joined(separator: ", ")
        return Chart(
            title: "\(names), active power", series: courses.map(\.series), style: style, marks: marks, spans: spans,
            window: ChartWindow(from: seconds.lowerBound, to: seconds.upperBound), zone: zone)
    }

    /// Returns a chart with bars of energy.
    ///
    /// - Parameter energies: the energy of each series in the same periods.
    public func energyChart(
        _ step: CalendarStep, _ periods: [CalendarPeriod], _ energies: [[PeriodEnergy]], zone: ZoneOffsets
    ) -> Chart {
        let series = zip(courses, energies).map { course, energies in
            Series(name: course.plug, unit: .wattHours, bars: energies.compactMap { ChartBar($0) })
        }
        let names = courses.map(\.plug).joined(separator: ", ")
        let window = periods.first.flatMap { first in
            periods.last.map { ChartWindow(from: Double(first.from), to: Double($0.to)) }
        }
        return Chart(title: "\(names), energy by \(step.rawValue)", series: series, window: window, zone: zone)
    }

    /// Returns the energy per plug and period: from the history, plus the energy of the samples in the series that are
    /// newer than the history.
    public func energies(
        of plugs: [HistoryPlug?], _ periods: [CalendarPeriod], from history: PowerHistory?
    ) throws(HistoryError) -> [[PeriodEnergy]] {
        var result: [[PeriodEnergy]] = []
        for (course, plug) in zip(courses, plugs) {
            var energies = periods.map { PeriodEnergy(period: $0) }
            if let plug, let history { energies = try history.energy(of: plug.id, periods: periods) }
            for index in energies.indices {
                let period = energies[index].period
                let new = course.newEnergy(from: Double(period.from), to: Double(period.to))
                energies[index].milliwattHours += new.milliwattHours
                energies[index].coveredMilliseconds += Int64(new.covered * 1000)
            }
            result.append(energies)
        }
        return result
    }

    // MARK: Marks

    /// Adds marks for the plugs' events in the history whose time is known, and for the firings of rules that these
    /// plugs caused.
    ///
    /// - Parameter span: the time in milliseconds since 1970.
    public mutating func mark(
        _ plugs: [HistoryPlug], from history: PowerHistory, over span: ClosedRange<Int64>
    ) throws(HistoryError) {
        for plug in plugs {
            for event in try history.events(of: plug.id, from: span.lowerBound, to: span.upperBound)
            where event.isTimeKnown {
                guard case .event(let what) = event.content else { continue }
                let at = WallTime(millisecondsSince1970: event.at)
                mark(PlugReport(plug: plug.title, at: at, update: .event(what, age: .zero)))
            }
        }
        let ids = Set(plugs.map(\.id))
        for firing in try history.firings(from: span.lowerBound, to: span.upperBound)
        where firing.plug.map(ids.contains) ?? false {
            add(ChartMark(time: Double(firing.at) / 1000, label: "rule \(firing.rule)"))
        }
    }

    /// Adds a mark for the event in a plug's live report, if its time is known and its kind is marked.
    public mutating func mark(_ report: PlugReport) {
        guard case .event(_, age: .some) = report.update,
            let record = WatchRecord.records(of: report, previous: nil).first, record.isMarked
        else { return }
        let words = courses.count > 1 ? "\(report.plug) \(record.words)" : record.words
        add(ChartMark(time: Double(report.at.nanosecondsSince1970) / 1e9, label: words))
    }

    private mutating func add(_ mark: ChartMark) {
        marks.append(mark)
        marks.removeFirst(max(0, marks.count - Self.markLimit))
    }
}

extension WatchRecord {
    /// True for events with a mark. A single press has none, because it toggles the relay, whose event has a mark.
    fileprivate var isMarked: Bool {
        ["relay", "protection", "protectionReset", "restarted"].contains(event) || press.map { $0 != "single" } ?? false
    }
}

extension ChartBar {
    /// Returns nil if the period has no data.
    fileprivate init?(_ energy: PeriodEnergy) {
        guard energy.milliwattHours > 0 || energy.coveredMilliseconds > 0 else { return nil }
        self.init(
            from: Double(energy.period.from), to: Double(energy.period.to), value: energy.milliwattHours / 1000,
            estimated: energy.estimatedMilliwattHours / 1000)
    }
}
