import ProtocolCore

/// Opens the relay when the voltage sags, at which motors stall and burn.
struct UnderVoltageGuard: Sendable {
    /// Below this part of the limit there is no voltage that sags, but none: a meter whose input is not connected or that died,
    /// or a bench supply that is turned off. That hurts no load, and is no reason to lock the plug.
    private static let none: UInt16 = 4

    private let limit: VoltageLimit?
    private var dwell: Dwell

    init(_ limit: VoltageLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// True when this measurement trips the plug.
    mutating func measured(decivolts: UInt16, now: Instant) -> Bool {
        guard let limit else { return false }
        let sags = decivolts < limit.decivolts && decivolts >= limit.decivolts / Self.none
        return dwell.sees(sags, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
