import ProtocolCore

/// So many at once, and then one in each interval.
struct Allowance: Hashable, Sendable {
    let burst: Int
    let interval: Duration
    /// When all that was taken is made up for.
    private var paid = Instant.zero

    init(burst: Int, interval: Duration) {
        self.burst = burst
        self.interval = interval
    }

    /// Takes one if there is one.
    mutating func take(now: Instant) -> Bool {
        guard now >= nextAvailable else { return false }
        paid = max(paid, now) + interval
        return true
    }

    /// There is none before this.
    var nextAvailable: Instant { paid - interval * (burst - 1) }
}
