import ProtocolCore

/// Limits the switches of commands and timers with a token bucket: it holds `count` tokens and refills evenly within
/// the window.
struct SwitchingRateGuard: Sendable {
    private let rate: SwitchingRate?
    /// When the bucket is full again, or nil if it is full.
    private var fullAt: Instant?

    init(_ rate: SwitchingRate?) { self.rate = rate }

    /// Removes a token. Returns false if none is left.
    mutating func take(_ now: Instant) -> Bool {
        guard let rate else { return true }
        let next = max(fullAt ?? now, now) + rate.window / max(rate.count, 1)
        guard next - now <= rate.window, rate.count > 0 else { return false }
        fullAt = next
        return true
    }

    /// Refills the bucket after a reset of the protection by the user.
    mutating func refill() { fullAt = nil }
}
