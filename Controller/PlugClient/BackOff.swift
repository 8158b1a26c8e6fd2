import ProtocolCore

/// The delay before the next connection attempt. It doubles with each attempt, with jitter, so that many controllers do
/// not reconnect at the same time.
struct BackOff {
    static let first = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)
    /// The duration after which a session counts as stable. The next delay after a stable session is the shortest one
    /// again.
    static let settled = Duration.seconds(5)
    private var base = first

    mutating func reset() { base = Self.first }

    /// Returns a random delay between half of the base and the base, and doubles the base up to `longest`.
    mutating func next(using random: inout SeededRandom) -> Duration {
        let delay = random.duration(in: (base / 2)...base)
        base = min(base * 2, Self.longest)
        return delay
    }
}
