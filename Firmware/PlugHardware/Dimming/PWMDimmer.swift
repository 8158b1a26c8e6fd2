/// A dimmer that is told by the share of time in which its input is active: a trailing-edge module or an LED driver.
public struct PWMDimmer: Dimmer {
    private let channel: any PWMChannel
    private let minimum: Double
    private let gamma: Double

    /// - Parameters:
    ///   - minimum: the least share, 0 to less than 1, at which the load works at all: an LED below its own flickers. Off is below it.
    ///   - gamma: 0.25 to 4: the share rises with this power of the level. At 1 they are the same; at 2.2 equal steps of the level
    ///     look equal to the eye.
    public init(_ channel: any PWMChannel, minimum: Double, gamma: Double) {
        precondition(minimum >= 0 && minimum < 1, "above its minimum a dimmer has a range")
        precondition(Self.gammas.contains(gamma), "no eye and no lamp is further from even")
        self.channel = channel
        self.minimum = minimum
        self.gamma = gamma
    }

    /// What a gamma may be.
    public static let gammas = 0.25...4

    public func set(fraction: Double) throws(HardwareFault) {
        try channel.set(activeFor: activeTime(at: fraction))
    }

    /// Nanoseconds of the period; higher or the same for a higher fraction.
    func activeTime(at fraction: Double) -> UInt64 {
        // Not a number is off.
        guard fraction > 0 else { return 0 }
        let share = minimum + (1 - minimum) * raise(min(fraction, 1), to: gamma)
        // What is on is never rounded to off.
        return min(max(UInt64((share * Double(channel.period)).rounded()), 1), channel.period)
    }
}

/// A power of a number from 0 to 1, with an exponent of 0 to less than 2^32. Higher or the same for a higher base: each step of it is.
///
/// The exponent is taken bit by bit: squares make those before the point, square roots those behind it. (The standard library
/// has no logarithm, and this module no C library.)
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
    // 2^-40 of an exponent is far below what a period has of nanoseconds.
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
