/// A dimmer with a pulse-width input: a trailing-edge module or an LED driver.
public struct PWMDimmer: Dimmer {
    private let channel: any PWMChannel
    private let minimum: Double
    private let gamma: Double

    /// Creates a dimmer.
    ///
    /// - Parameters:
    ///   - minimum: the smallest share of the period, from 0 to less than 1, at which the load works without
    ///     flickering. A fraction of 0 turns the load off.
    ///   - gamma: 0.25 to 4, the exponent. The share above the minimum is proportional to the fraction raised to this
    ///     exponent. At 1 the share rises linearly; at 2.2 equal steps of the fraction look equal to the eye.
    public init(_ channel: any PWMChannel, minimum: Double, gamma: Double) {
        precondition(minimum >= 0 && minimum < 1, "the minimum must be at least 0 and less than 1")
        precondition(Self.gammas.contains(gamma), "gamma must be 0.25 to 4")
        self.channel = channel
        self.minimum = minimum
        self.gamma = gamma
    }

    /// The valid range of gamma.
    public static let gammas = 0.25...4

    public func set(fraction: Double) throws(HardwareFault) {
        try channel.set(activeFor: activeTime(at: fraction))
    }

    /// Returns the active nanoseconds of the period, which never decrease with a higher fraction.
    func activeTime(at fraction: Double) -> UInt64 {
        // NaN counts as off.
        guard fraction > 0 else { return 0 }
        let share = minimum + (1 - minimum) * raise(min(fraction, 1), to: gamma)
        // A level above zero is never rounded to off.
        return min(max(UInt64((share * Double(channel.period)).rounded()), 1), channel.period)
    }
}

/// Returns a power of a number from 0 to 1, with an exponent of 0 to less than 2^32. The result never decreases with a
/// higher base, because no step of the computation does.
///
/// The exponent is processed bit by bit: squares compute its integer part, square roots its fraction. (The standard
/// library has no logarithm, and this module imports no C library.)
func raise(_ base: Double, to exponent: Double) -> Double {
    var result = 1.0
    var square = base
    var whole = UInt32(exponent)
    while whole > 0 {
        if whole & 1 == 1 { result *= square }
        square *= square
        whole >>= 1
    }
    var root = base
    var rest = exponent - exponent.rounded(.down)
    // 40 bits of the fraction suffice: the remaining bits change the active time by far less than one nanosecond.
    for _ in 0..<40 where rest > 0 {
        root = root.squareRoot()
        rest *= 2
        if rest >= 1 {
            result *= root
            rest -= 1
        }
    }
    return result
}
