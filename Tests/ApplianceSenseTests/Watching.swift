import ApplianceSense
import TestSupport

/// Returns the events of a detector for the samples, in order.
func events(
    in points: [PowerScript.Point], learned profile: ApplianceProfile = ApplianceProfile()
) -> [ApplianceEvent] {
    var sense = ApplianceSense(learned: profile)
    return points.flatMap { sense.handle($0) }
}

/// Returns the cycles of the finished events.
func finished(_ events: [ApplianceEvent]) -> [ApplianceCycle] {
    events.compactMap { if case .finished(let cycle) = $0 { cycle } else { nil } }
}

/// Returns the profile that a detector learns from some uses of a model.
func profile(after uses: Int, of model: ApplianceModel) -> ApplianceProfile {
    var sense = ApplianceSense()
    for point in model.script(uses: uses, seed: 7).points { _ = sense.handle(point) }
    return sense.profile
}

/// Returns one sample per second for successive stretches of time, each with a constant power.
func level(_ stretches: (watts: Int32, minutes: Double)...) -> [PowerScript.Point] {
    var points: [PowerScript.Point] = []
    var time: Int64 = 0
    for (watts, minutes) in stretches {
        let end = time + Int64(minutes * 60_000)
        while time < end {
            points.append((time, watts * 10))
            time += 1000
        }
    }
    return points
}

extension [PowerScript.Point] {
    /// Removes the samples between two times, in minutes.
    func withHole(from start: Double, to end: Double) -> [PowerScript.Point] {
        filter { !(start * 60_000..<end * 60_000).contains(Double($0.milliseconds)) }
    }
}
