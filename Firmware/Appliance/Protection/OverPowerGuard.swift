import ProtocolCore

/// The load may exceed the limit for a while; it trips the plug when it stays above.
struct OverPowerGuard: Sendable {
    private let limit: OverPowerLimit?
    private var dwell: Dwell

    init(_ limit: OverPowerLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// True when this measurement trips the plug. Power that is fed back heats the contacts as well.
    mutating func measured(deciwatts: Int32, now: Instant) -> Bool {
        guard let limit else { return false }
        return dwell.sees(Int64(deciwatts.magnitude) > limit.deciwatts, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
