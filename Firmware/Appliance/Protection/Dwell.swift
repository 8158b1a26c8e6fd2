import ProtocolCore

/// Whether something has been so for long enough, without a break.
struct Dwell: Sendable {
    private let duration: Duration
    private var since: Instant?

    init(_ duration: Duration) { self.duration = duration }

    /// True once it has been so for the duration; a duration of zero takes one look.
    mutating func sees(_ isSo: Bool, now: Instant) -> Bool {
        guard isSo else {
            since = nil
            return false
        }
        let start = since ?? now
        since = start
        return now - start >= duration
    }

    /// What follows has nothing to do with what was before.
    mutating func interrupt() { since = nil }
}
