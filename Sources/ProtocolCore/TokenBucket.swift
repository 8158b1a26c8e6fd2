/// A rate limit that permits bursts: `burst` tokens at once, and afterwards one per interval.
public struct TokenBucket: Hashable, Sendable {
    /// The number of tokens in a full bucket, at least 1.
    public let burst: Int
    /// The time after which one token is added.
    public let interval: Duration
    /// The time at which the bucket is full again. This is the complete state; the number of tokens follows from it.
    private var full = Instant.zero

    /// Creates a full bucket.
    public init(burst: Int, interval: Duration) { (self.burst, self.interval) = (burst, interval) }

    /// Creates a full bucket from a burst and a limit per hour, which must be higher than the burst.
    ///
    /// - Parameter perHour: The maximum number of tokens in any hour.
    public init(atOnce burst: Int, perHour: Int) {
        self.init(burst: burst, interval: Duration.seconds(3600) / (perHour - burst))
    }

    /// Returns the time from which `count` tokens are available, which may be in the past.
    public func available(_ count: Int = 1) -> Instant { full - interval * (burst - count) }

    /// Returns true if the bucket has all its tokens.
    public func isFull(at now: Instant) -> Bool { full <= now }

    /// Consumes tokens. If fewer are available, the missing tokens delay the next ones.
    public mutating func spend(_ count: Int = 1, now: Instant) { full = max(full, now) + interval * count }

    /// Consumes tokens. Returns false and consumes nothing if fewer are available.
    public mutating func take(_ count: Int = 1, now: Instant) -> Bool {
        guard available(count) <= now else { return false }
        spend(count, now: now)
        return true
    }
}
