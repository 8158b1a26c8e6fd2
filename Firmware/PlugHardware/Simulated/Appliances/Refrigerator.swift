/// A compressor that runs a third of the time. Each run begins with an inrush, rises slightly and then decreases as the
/// cabinet cools.
struct Refrigerator: ApplianceModel {
    let modes = [LoadMode.on, .off]

    /// The length of a cycle in seconds. Each cycle has one run of the compressor.
    static let cycle = 2400.0

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off, .standby: return .nothing
        case .on:
            let index = (moment.time / Self.cycle).rounded(.down)
            let run = moment.time - index * Self.cycle - delay(index, moment.noise)
            guard run >= 0, run < duration(index, moment.noise) else { return Draw(watts: 0.4, powerFactor: 0.3) }
            let sinceStart = min(run, moment.sinceSwitched)
            let cooling = 128 + 26 * decay(run, 240) - 14 * decay(run, 30)
            let noise = 0.9 * moment.noise.stepped(moment.time, period: 1, 3)
            return Draw(watts: cooling + noise + 750 * decay(sinceStart, 0.8), powerFactor: 0.68)
        }
    }

    /// Returns the delay of a run after the start of its cycle. The first run starts immediately, as after plugging in
    /// a warm refrigerator.
    private func delay(_ index: Double, _ noise: Noise) -> Double {
        index == 0 ? 0 : 240 * (1 + noise.value(Int64(index), 1))
    }

    private func duration(_ index: Double, _ noise: Noise) -> Double { 800 + 60 * noise.value(Int64(index), 2) }
}
