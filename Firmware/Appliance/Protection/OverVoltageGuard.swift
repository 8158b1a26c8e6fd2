import ProtocolCore

/// Opens the relay before the load is damaged by what the mains should not have: a lost neutral makes up to 400 V of 230.
struct OverVoltageGuard: Sendable {
    private let limit: VoltageLimit?
    private var dwell: Dwell

    init(_ limit: VoltageLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// True when this measurement trips the plug.
    mutating func measured(decivolts: UInt16, now: Instant) -> Bool {
        guard let limit else { return false }
        return dwell.sees(decivolts > limit.decivolts, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
