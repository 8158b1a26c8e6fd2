import ProtocolCore

/// A rate limit: a burst, then one per interval.
struct Allowance: Hashable, Sendable {
    let burst: Int
    let interval: Duration
    /// The time at which the whole burst is available again.
    private var paid = Instant.zero

    init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// Consumes one unit. Returns false if none is available.
    mutating func take(now: Instant) -> Bool {
        guard now >= nextAvailable else { return false }
        paid = max(paid, now) + interval
        return true
    }

    /// The time at which the next unit is available.
    var nextAvailable: Instant { paid - interval * (burst - 1) }
}
