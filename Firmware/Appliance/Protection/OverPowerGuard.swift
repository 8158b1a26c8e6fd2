import ProtocolCore

/// The load may exceed the limit for a while; it trips the plug when it stays above.
struct OverPowerGuard: Sendable {
    private var limit: OverPowerLimit?
    private var dwell: Dwell

    init(_ limit: OverPowerLimit?) {
        self.limit = limit
        dwell = Dwell(limit?.duration ?? .zero)
    }

    /// What it has seen goes on to count: a limit that is changed again and again must trip the plug as one that is not.
    mutating func change(_ new: OverPowerLimit?) {
        if new?.duration != limit?.duration { dwell = Dwell(new?.duration ?? .zero) }
        limit = new
    }

    /// True when this measurement trips the plug. Power that is fed back heats the contacts as well.
    mutating func measured(deciwatts: Int32, now: Instant) -> Bool {
        guard let limit else { return false }
        return dwell.sees(Int64(deciwatts.magnitude) > limit.deciwatts, now: now)
    }

    mutating func interrupt() { dwell.interrupt() }
}
