/// A small deterministic generator (SplitMix64), part of each machine's value: the same seed gives the same run. It is
/// used for delays, jitter and ids that need not be secret; keys and nonces come from the cryptography library.
public struct SeededRandom: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// Creates a generator. Equal seeds give equal numbers.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number, uniform in 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a duration drawn uniformly from the range, both ends included, with nanosecond steps.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        .nanoseconds(
            Int64.random(in: range.lowerBound.wholeNanoseconds...range.upperBound.wholeNanoseconds, using: &self))
    }

    /// Returns true with the given probability, 0 to 1.
    public mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    /// Returns an independent generator for one part of a simulation, so that its draws do not shift those of other
    /// parts.
    public mutating func split() -> SeededRandom { SeededRandom(seed: next()) }
}
