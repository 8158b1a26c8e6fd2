import ProtocolCore

/// Measures how long a condition holds without interruption.
struct Dwell: Sendable {
    private let duration: Duration
    private var since: Instant?

    init(_ duration: Duration) { self.duration = duration }

    /// Returns true once the condition has held for the duration. With a duration of zero, one true value is enough.
    mutating func sees(_ isSo: Bool, now: Instant) -> Bool {
        guard isSo else {
            since = nil
            return false
        }
        let start = since ?? now
        since = start
        return now - start >= duration
    }

    /// Discards the time so far, because the next value is unrelated to it.
    mutating func interrupt() { since = nil }
}
