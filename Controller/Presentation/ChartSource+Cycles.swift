import ApplianceSense
import Charting
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
            if let plug, let history {
                let from = span.lowerBound - Self.learning
                try history.samples(of: plug.id, from: from, to: span.upperBound) { time, sample in
                    sense.gather((time, sample.deciwatts), into: &cycles)
                }
            }
            for point in course.newer {
                let deciwatts = Int32(clamping: Int64((point.value * 10).rounded()))
                sense.gather((Int64(point.time * 1000), deciwatts), into: &cycles)
            }
            if let running = sense.running { cycles.append(running) }
            for cycle in cycles { add(cycle, of: index, until: span.upperBound) }
        }
    }

    mutating func add(_ cycle: ApplianceCycle, of series: Int, until end: Int64) {
        func span(_ from: Int64, _ to: Int64, _ label: String) -> ChartSpan {
            ChartSpan(from: Double(from) / 1000, to: Double(to) / 1000, label: label, series: series)
        }
        spans.append(span(cycle.start, cycle.end ?? end, cycle.label))
        guard courses.count == 1 else { return }
        spans += cycle.phases.map { span($0.start, $0.end, $0.name.rawValue) }
    }
}

extension ApplianceCycle {
    fileprivate var label: String {
        let energy = ChartUnit.wattHours.text((Double(milliwattHours) / 1000).rounded())
        switch kind {
        case .programme: return end == nil ? "programme, still running" : "programme \(energy)"
        case .compressor: return energy
        case .defrost: return "defrost \(energy)"
        }
    }
}
