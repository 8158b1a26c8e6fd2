/// An amplifier with a large transformer: a strong inrush, then its quiescent current and a small share from the music.
struct Amplifier: ApplianceModel {
    let modes = [LoadMode.on, .standby, .off]

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off: return .nothing
        case .standby: return Draw(watts: 1.8 + 90 * moment.inrush(0.15), powerFactor: 0.35)
        case .on:
            let music =
                1.5 * moment.noise.smooth(moment.time, period: 2) + 0.6
                * moment.noise.stepped(moment.time, period: 0.5, 1)
            return Draw(watts: 45 + music + 400 * moment.inrush(0.15), powerFactor: 0.78)
        }
    }
}
