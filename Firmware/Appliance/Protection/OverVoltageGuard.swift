import ProtocolCore

/// Opens the relay when the voltage is too high, before it damages the load. With a lost neutral, 230 V mains reach up
/// to 400 V.
struct OverVoltageGuard: Sendable {
    private let limit: VoltageLimit?
    private var dwell: Dwell

    init(_ limit: VoltageLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// Returns true if this measurement trips the plug.
    mutating func measured(decivolts: UInt16, now: Instant) -> Bool {
        guard let limit else { return false }
        return dwell.sees(decivolts > limit.decivolts, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
