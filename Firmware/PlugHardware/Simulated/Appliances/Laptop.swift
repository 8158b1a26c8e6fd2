/// A charger: full current for twenty minutes, then a decreasing one, with bursts while the processor is busy.
struct Laptop: ApplianceModel {
    let modes = [LoadMode.on, .standby, .off]

    static let constantCurrent = 1200.0

    func draw(_ moment: LoadMoment) -> Draw {
        switch moment.mode {
        case .off: return .nothing
        case .standby: return Draw(watts: 0.9 + 12 * moment.inrush(0.1), powerFactor: 0.35)
        case .on:
            let charging = 46 * decay(max(0, moment.operated - Self.constantCurrent), 1800)
            let busy = moment.noise.stepped(moment.time, period: 9, 1) > 0.6
            let burst = busy ? 16 + 4 * moment.noise.stepped(moment.time, period: 1, 2) : 0
            let idle = 9 + 0.8 * moment.noise.stepped(moment.time, period: 1, 3)
            return Draw(watts: min(charging + burst + idle, 65) + 40 * moment.inrush(0.1), powerFactor: 0.6)
        }
    }
}
