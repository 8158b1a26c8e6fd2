import ApplianceSense
import Charting
import LinuxClocks
import Metering
public import PowerHistory

extension ChartSource {
    /// A longer time has more cycles than a chart can show, and more samples than are read at a glance.
    private static let longestOfCycles: Int64 = 14 * 86_400_000
    /// Cycles are looked for from so long before the chart: one may have begun there, and what the appliance is was learned there.
    private static let learning: Int64 = 86_400_000

    /// Finds what the appliances did: runs of a compressor, programmes, and of a plug that is alone also their phases.
    ///
    /// - Parameters:
    ///   - plugs: for each course; nil where the history does not know the plug.
    ///   - span: what the chart shows, milliseconds since 1970.
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

    /// - Parameter newest: the last sample that is known, milliseconds since 1970: nobody knows how a cycle went on after it.
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
    /// Milliseconds. Whoever drew a while ago may have ended since.
    private static let stillRunning: Int64 = 30_000

    fileprivate var energy: String { ChartUnit.wattHours.text((Double(milliwattHours) / 1000).rounded()) }

    fileprivate func label(newest: Int64) -> String {
        switch kind {
        case .programme:
            guard end == nil else { return "programme \(energy)" }
            let now = WallTime.now.nanosecondsSince1970 / 1_000_000
            return now - newest <= Self.stillRunning ? "programme, still running" : "programme, its end is not known"
        case .compressor: return energy
        case .defrost: return "defrost \(energy)"
        }
    }
}
