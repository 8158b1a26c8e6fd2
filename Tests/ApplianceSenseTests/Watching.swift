import ApplianceSense
import SimulatedAppliances

/// What a detector says of a script, in the order in which it says it.
func events(
    in points: [PowerScript.Point], learned profile: ApplianceProfile = ApplianceProfile()
) -> [ApplianceEvent] {
    var sense = ApplianceSense(learned: profile)
    return points.flatMap { sense.handle($0) }
}

func finished(_ events: [ApplianceEvent]) -> [ApplianceCycle] {
    events.compactMap { if case .finished(let cycle) = $0 { cycle } else { nil } }
}

/// What is known after some uses of a model.
func profile(after uses: Int, of model: ApplianceModel) -> ApplianceProfile {
    var sense = ApplianceSense()
    for point in model.script(uses: uses, seed: 7).points { _ = sense.handle(point) }
    return sense.profile
}

/// Level power for some minutes each, one sample a second.
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
    /// As if nothing had been measured between two minutes.
    func withHole(from start: Double, to end: Double) -> [PowerScript.Point] {
        filter { !(start * 60_000..<end * 60_000).contains(Double($0.milliseconds)) }
    }
}
