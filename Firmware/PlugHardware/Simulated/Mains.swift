/// The voltage at a socket: 230 V, with variations from other loads.
struct Mains: Hashable, Sendable {
    static let nominalVolts = 230.0

    let noise: Noise

    /// Returns the RMS volts at a time in seconds, which vary by up to 2 V over minutes and by up to 0.3 V over
    /// seconds.
    func volts(at seconds: Double) -> Double {
        Self.nominalVolts + 2 * noise.smooth(seconds, period: 300, 1) + 0.3 * noise.stepped(seconds, period: 1, 2)
    }
}
