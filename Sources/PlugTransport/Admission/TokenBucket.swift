import ProtocolCore

/// A rate limit that permits bursts: `burst` tokens at once, and afterwards one per interval.
struct TokenBucket: Hashable, Sendable {
    /// The time after which one token is added.
    var interval: Duration
    /// Tokens in a full bucket, at least 1.
    var burst: Int
    /// The time at which the bucket is full again. This is the complete state; the number of tokens follows from it.
    private var full = Instant(nanoseconds: .min)

    init(every interval: Duration, burst: Int) {
        self.interval = interval
        self.burst = burst
    }

    func hasToken(at now: Instant) -> Bool { max(full, now) + interval - now <= interval * burst }

    func isFull(at now: Instant) -> Bool { full <= now }

    mutating func take(now: Instant) { full = max(full, now) + interval }
}
