import ProtocolCore

/// So many at once and, after that, one each interval: a limit on a rate that leaves room for bursts.
struct TokenBucket: Hashable, Sendable {
    /// The time in which one token comes back.
    var interval: Duration
    /// Tokens in a full bucket, at least 1.
    var burst: Int
    /// When the bucket is full again. The whole state: how much is missing follows from it.
    private var full = Instant(nanoseconds: .min)

    init(every interval: Duration, burst: Int) {
        self.interval = interval
        self.burst = burst
    }

    func hasToken(at now: Instant) -> Bool { max(full, now) + interval - now <= interval * burst }

    func isFull(at now: Instant) -> Bool { full <= now }

    mutating func take(now: Instant) { full = max(full, now) + interval }
}
