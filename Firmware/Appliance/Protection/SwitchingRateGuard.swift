import ProtocolCore

/// Counts the switches of commands and timers against what the relay should have to do: a bucket that holds `count` of them and
/// fills again evenly within the window.
struct SwitchingRateGuard: Sendable {
    private let rate: SwitchingRate?
    /// When the bucket is full again; nil: it is.
    private var fullAt: Instant?

    init(_ rate: SwitchingRate?) { self.rate = rate }

    /// Takes one out; false where none was left.
    mutating func take(_ now: Instant) -> Bool {
        guard let rate else { return true }
        let next = max(fullAt ?? now, now) + rate.window / max(rate.count, 1)
        guard next - now <= rate.window, rate.count > 0 else { return false }
        fullAt = next
        return true
    }

    /// Whoever resets it answers for what follows.
    mutating func refill() { fullAt = nil }
}
