import ApplianceSense
import Charting

extension ChartSource {
    /// Finds what the appliances did in the samples: runs of a compressor, programmes with their phases. Summaries are too coarse
    /// for it, so that charts of more than a day have none.
    public mutating func findCycles() {
        spans = courses.flatMap { course in
            let samples = course.series.points.lazy.map { point in
                let deciwatts = Int32(clamping: Int64((point.value * 10).rounded()))
                return (milliseconds: Int64(point.time * 1000), deciwatts: deciwatts)
            }
            let end = course.series.points.last?.time ?? 0
            return ApplianceSense.cycles(in: samples).flatMap { cycle in
                // Of several plugs a cycle bears the name, and has no phases: they would not be told apart.
                let name = courses.count > 1 ? "\(course.plug) " : ""
                let whole = ChartSpan(
                    from: Double(cycle.start) / 1000, to: cycle.end.map { Double($0) / 1000 } ?? end,
                    label: name + cycle.label)
                guard courses.count == 1 else { return [whole] }
                return [whole]
                    + cycle.phases.map {
                        ChartSpan(
                            from: Double($0.start) / 1000, to: Double($0.end) / 1000, label: $0.name.rawValue)
                    }
            }
        }
    }
}

extension ApplianceCycle {
    fileprivate var label: String {
        let energy = ChartUnit.wattHours.text(Double(milliwattHours / 1000))
        switch kind {
        case .programme: return end == nil ? "programme, still running" : "programme \(energy)"
        case .compressor: return energy
        case .defrost: return "defrost \(energy)"
        }
    }
}
