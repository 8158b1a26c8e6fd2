import ProtocolCore

/// Opens the relay when the voltage sags, because motors stall and burn at low voltage.
struct UnderVoltageGuard: Sendable {
    /// Below the limit divided by this number, the voltage is missing rather than low: the meter's input is not
    /// connected, the meter has failed or a bench supply is off. That damages no load and does not lock the plug.
    private static let none: UInt16 = 4

    private let limit: VoltageLimit?
    private var dwell: Dwell

    init(_ limit: VoltageLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// Returns true if this measurement trips the plug.
    mutating func measured(decivolts: UInt16, now: Instant) -> Bool {
        guard let limit else { return false }
        let sags = decivolts < limit.decivolts && decivolts >= limit.decivolts / Self.none
        return dwell.sees(sags, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
