/// One wash: fill, heat, tumble, rinse, spin, then half an hour of anti-crease turns with pauses that resemble the end.
struct WashingMachine: ApplianceModel {
    let modes = [LoadMode.on, .standby, .off]

    /// The end of each phase in seconds of the program.
    static let filled = 180.0
    static let heated = 900.0
    static let washed = 2700.0
    static let spun = 3300.0
    static let finished = 5100.0

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off: return .nothing
        case .standby: return standby
        case .on: return program(moment)
        }
    }

    private var standby: Draw { Draw(watts: 1.1, powerFactor: 0.3) }

    private func program(_ moment: LoadMoment) -> Draw {
        let time = moment.operated
        let noise = moment.noise.stepped(moment.time, period: 1, 1)
        let start = 250 * moment.inrush(0.8)
        switch time {
        case ..<Self.filled:
            return Draw(
                watts: 12 + noise + start + drum(time, turning: 10, of: 30) * (150 + 25 * noise), powerFactor: 0.6)
        case ..<Self.heated:
            let volts = moment.volts / Mains.nominalVolts
            let heater = 1960 * volts * volts
            return Draw(watts: heater + start + drum(time, turning: 12, of: 24) * (190 + 25 * noise), powerFactor: 0.98)
        case ..<Self.washed:
            return Draw(
                watts: 4 + 0.5 * noise + start + drum(time, turning: 14, of: 22) * (170 + 40 * noise), powerFactor: 0.6)
        case ..<Self.spun:
            let speed = (time - Self.washed) / (Self.spun - Self.washed)
            return Draw(watts: 100 + 320 * speed * speed + 6 * noise + start, powerFactor: 0.65)
        case ..<Self.finished:
            return Draw(
                watts: 2.2 + 0.2 * noise + start + drum(time, turning: 9, of: 170) * (110 + 15 * noise),
                powerFactor: 0.55)
        default:
            return standby
        }
    }

    /// Returns 1 while the drum turns, during the last `turning` seconds of each period, and 0 before.
    private func drum(_ time: Double, turning: Double, of period: Double) -> Double {
        time.truncatingRemainder(dividingBy: period) < period - turning ? 0 : 1
    }
}
