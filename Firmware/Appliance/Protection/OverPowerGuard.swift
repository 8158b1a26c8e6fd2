import ProtocolCore

/// Trips the plug when the power stays above the limit. Short peaks are allowed.
struct OverPowerGuard: Sendable {
    private var limit: OverPowerLimit?
    private var dwell: Dwell

    init(_ limit: OverPowerLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// Changes the limit. If the duration is the same, the time above the limit continues to count, so that repeated
    /// changes cannot prevent a trip.
    mutating func change(_ new: OverPowerLimit?) {
        if new?.duration != limit?.duration { dwell = Dwell(new?.duration ?? .zero) }
        limit = new
    }

    /// Returns true if this measurement trips the plug. Power that is fed back heats the contacts too.
    mutating func measured(deciwatts: Int32, now: Instant) -> Bool {
        guard let limit else { return false }
        return dwell.sees(Int64(deciwatts.magnitude) > limit.deciwatts, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
