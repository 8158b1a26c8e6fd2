import ProtocolCore

/// How long to wait before the next attempt: doubling, with jitter so that a house of controllers does not return at once.
struct BackOff {
    static let first = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)
    /// A session that lasted so long was a good one: after it the waiting begins anew.
    static let settled = Duration.seconds(5)
    private var base = first

    mutating func reset() { base = Self.first }

    /// Between half of the base and the base.
    mutating func next(using random: inout SeededRandom) -> Duration {
        let delay = random.duration(in: (base / 2)...base)
        base = min(base * 2, Self.longest)
        return delay
    }
}
