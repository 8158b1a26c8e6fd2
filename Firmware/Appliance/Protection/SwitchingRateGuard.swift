import ProtocolCore

/// Limits how often commands and timers switch the relay: `count` times at once, and as many times again within the
/// window.
struct SwitchingRateGuard: Sendable {
    private let rate: SwitchingRate?
    private var bucket: TokenBucket

    init(_ rate: SwitchingRate?) {
        self.rate = rate
        bucket = Self.full(rate)
    }

    private static func full(_ rate: SwitchingRate?) -> TokenBucket {
        let count = max(rate?.count ?? 1, 1)
        return TokenBucket(burst: count, interval: (rate?.window ?? .zero) / count)
    }

    /// Counts a switch. Returns false if the limit is reached.
    mutating func take(_ now: Instant) -> Bool {
        guard let rate else { return true }
        return rate.count > 0 && bucket.take(now: now)
    }

    /// Permits a full burst again, after a reset of the protection by the user.
    mutating func refill() { bucket = Self.full(rate) }
}
