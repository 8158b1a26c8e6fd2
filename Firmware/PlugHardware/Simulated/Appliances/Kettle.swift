/// A kettle: 2 kW until the water boils after three minutes, then nothing until the user starts it again.
struct Kettle: ApplianceModel {
    let modes = [LoadMode.off, .on]

    static let boiling = 180.0

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off, .standby: return .nothing
        case .on:
            guard moment.operated < Self.boiling else { return .nothing }
            let volts = moment.volts / Mains.nominalVolts
            return Draw(watts: 2000 * volts * volts * (1 + 0.08 * moment.inrush(1)), powerFactor: 1)
        }
    }
}
