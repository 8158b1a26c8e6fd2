import ProtocolCore

/// Who may try a password when. A failure makes its address wait before the next try, twice as long each time, and too many of
/// all strangers together make strangers wait. No wait is longer than ``longestWait``, and nobody waits for others from where
/// somebody was right before. But while strangers at many addresses guess without end, whoever comes from a new one competes with
/// them for each try: to let that one pass would be to let them pass.
struct PasswordGuard {
    /// The wait after the first failure, and the longest.
    static let firstWait = Duration.seconds(1)
    static let longestWait = Duration.seconds(30)
    /// After so long without a failure it is forgotten.
    static let memory = Duration.seconds(600)
    /// Failures of all strangers together that cost nothing: people mistype.
    static let freeFailures = 5
    /// Addresses remembered. Beyond it the oldest is forgotten: then only what holds for all slows it down.
    static let mostAddresses = 256

    private struct Failures {
        var count = 0
        var last = Instant.zero
        var until = Instant.zero

        mutating func add(free: Int, now: Instant) {
            if now - last > PasswordGuard.memory { count = 0 }
            count += 1
            last = now
            let doublings = count - free - 1
            guard doublings >= 0 else { return }
            // 2^5 seconds are more than the longest wait.
            until = now + min(PasswordGuard.firstWait * (1 << min(doublings, 5)), PasswordGuard.longestWait)
        }
    }

    private var addresses: [String: Failures] = [:]
    private var strangers = Failures()
    /// From where somebody was right, and when; as many as addresses with failures.
    private var known: [String: Instant] = [:]

    init() {}

    /// Nil where the address may try now. That counts as a failure until it is told otherwise: tries at once are no way round.
    mutating func attempt(from address: String, now: Instant) -> Duration? {
        let isKnown = known[address] != nil
        let until = max(addresses[address]?.until ?? .zero, isKnown ? .zero : strangers.until)
        guard until <= now else { return until - now }
        addresses[address, default: Failures()].add(free: 0, now: now)
        if !isKnown { strangers.add(free: Self.freeFailures, now: now) }
        if addresses.count > Self.mostAddresses, let oldest = addresses.min(by: { $0.value.last < $1.value.last }) {
            addresses[oldest.key] = nil
        }
        return nil
    }

    mutating func succeeded(from address: String, now: Instant) {
        addresses[address] = nil
        // The one that was right is no failure; those of others stay.
        if known[address] == nil { strangers.count = max(0, strangers.count - 1) }
        known[address] = now
        if known.count > Self.mostAddresses, let oldest = known.min(by: { $0.value < $1.value }) {
            known[oldest.key] = nil
        }
    }
}
