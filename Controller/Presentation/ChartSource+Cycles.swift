import ApplianceSense
import Charting
import LinuxSystem
import Metering
public import PowerHistory

extension ChartSource {
    /// The longest time span in milliseconds for which cycles are shown. A longer span has more cycles than a chart can
    /// show, and too many samples to search.
    private static let longestOfCycles: Int64 = 14 * 86_400_000
    /// The length in milliseconds of the time before the chart that is searched too. A cycle may have begun in that
    /// time, and the detection learns the appliance's behaviour from it.
    private static let learning: Int64 = 86_400_000

    /// Finds cycles of the appliances: runs of a compressor, programmes, and their phases if the chart has only one
    /// plug.
    ///
    /// - Parameters:
    ///   - plugs: the plug of each series; nil if the history does not know it.
    ///   - span: the time of the chart in milliseconds since 1970.
    public mutating func findCycles(
        of plugs: [HistoryPlug?], from history: PowerHistory?, over span: ClosedRange<Int64>
    ) throws(HistoryError) {
        guard span.upperBound - span.lowerBound <= Self.longestOfCycles else { return }
        for (index, (course, plug)) in zip(courses, plugs).enumerated() {
            var sense = ApplianceSense()
            var cycles: [ApplianceCycle] = []
            var newest = span.lowerBound
            if let plug, let history {
                let from = span.lowerBound - Self.learning
                try history.samples(of: plug.id, from: from, to: span.upperBound) { time, sample in
                    newest = max(newest, time)
                    sense.gather((time, sample.deciwatts), into: &cycles)
                }
            }
            for point in course.newer {
                let deciwatts = Int32(clamping: Int64((point.value * 10).rounded()))
                newest = max(newest, Int64(point.time * 1000))
                sense.gather((Int64(point.time * 1000), deciwatts), into: &cycles)
            }
            if let running = sense.running { cycles.append(running) }
            for cycle in cycles { add(cycle, of: index, newest: newest) }
        }
    }

    /// Adds the spans of a cycle.
    ///
    /// - Parameter newest: the time of the last known sample in milliseconds since 1970. The rest of a running cycle is
    ///   unknown.
    private mutating func add(_ cycle: ApplianceCycle, of series: Int, newest: Int64) {
        func span(_ from: Int64, _ to: Int64, _ label: String, short: String? = nil) -> ChartSpan {
            ChartSpan(
                from: Double(from) / 1000, to: Double(to) / 1000, label: label, shortLabel: short, series: series)
        }
        let end = max(cycle.start, cycle.end ?? newest)
        spans.append(span(cycle.start, end, cycle.label(newest: newest), short: cycle.energy))
        guard courses.count == 1 else { return }
        spans += cycle.phases.map { span($0.start, $0.end, $0.name.rawValue) }
    }
}

extension ApplianceCycle {
    /// The maximum age of the newest sample, in milliseconds, at which a programme without an end counts as running.
    private static let stillRunning: Int64 = 30_000

    fileprivate var energy: String { ChartUnit.wattHours.text((Double(milliwattHours) / 1000).rounded()) }

    fileprivate func label(newest: Int64) -> String {
        switch kind {
        case .programme:
            guard end == nil else { return "programme \(energy)" }
            let now = WallTime.now.nanosecondsSince1970 / 1_000_000
            return now - newest <= Self.stillRunning ? "programme, still running" : "programme, end unknown"
        case .compressor: return energy
        case .defrost: return "defrost \(energy)"
        }
    }
}
