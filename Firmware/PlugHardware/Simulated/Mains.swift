/// The voltage at a socket: 230 V, wandering with what the neighbours do.
struct Mains: Hashable, Sendable {
    static let nominalVolts = 230.0

    let noise: Noise

    /// RMS volts at a time in seconds: 2 V up and down over minutes, 0.3 V over seconds.
    func volts(at seconds: Double) -> Double {
        Self.nominalVolts + 2 * noise.smooth(seconds, period: 300, 1) + 0.3 * noise.stepped(seconds, period: 1, 2)
    }
}
