/// A dimmable halogen lamp: its power follows the level, and its cold filament draws more for a moment.
struct Lamp: ApplianceModel {
    let modes = [LoadMode.on, .off]

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off, .standby: return .nothing
        case .on:
            let volts = moment.volts / Mains.nominalVolts
            return Draw(watts: 60 * moment.level * volts * volts * (1 + 6 * moment.inrush(0.05)), powerFactor: 1)
        }
    }
}
