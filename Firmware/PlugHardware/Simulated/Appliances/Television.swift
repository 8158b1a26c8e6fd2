/// A plasma television. Its screen is dark for two seconds and reaches full power within three more. Then the power
/// follows the picture.
struct Television: ApplianceModel {
    let modes = [LoadMode.standby, .on, .off]

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off: return .nothing
        case .standby: return Draw(watts: 0.5 + 8 * moment.inrush(0.3), powerFactor: 0.4)
        case .on:
            let started = min(max((moment.sinceSwitched - 2) / 3, 0), 1)
            let picture =
                8 * moment.noise.smooth(moment.time, period: 4) + 1.2 * moment.noise.stepped(moment.time, period: 1, 1)
            return Draw(watts: 18 + started * (112 + picture) + 60 * moment.inrush(0.2), powerFactor: 0.93)
        }
    }
}
