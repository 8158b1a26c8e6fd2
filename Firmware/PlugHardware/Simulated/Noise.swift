/// Noise as a pure function of time, so that a simulated load has a reproducible value at any moment, in any order.
struct Noise: Hashable, Sendable {
    let seed: UInt64

    /// Returns a number from -1 to 1 for a whole number, uniformly distributed.
    func value(_ index: Int64, _ channel: UInt64 = 0) -> Double {
        // The finalizer of SplitMix64: neighbouring indices get unrelated values.
        var mixed = seed &+ UInt64(bitPattern: index) &* 0x9E37_79B9_7F4A_7C15 &+ channel &* 0xD1B5_4A32_D192_ED03
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / 0x1p52 - 1
    }

    /// Returns a step function from -1 to 1 with steps of `period` seconds.
    func stepped(_ seconds: Double, period: Double, _ channel: UInt64 = 0) -> Double {
        value(Int64((seconds / period).rounded(.down)), channel)
    }

    /// Returns a smooth function from -1 to 1 with a new direction every `period` seconds.
    func smooth(_ seconds: Double, period: Double, _ channel: UInt64 = 0) -> Double {
        let place = seconds / period
        let index = place.rounded(.down)
        let part = place - index
        let weight = part * part * (3 - 2 * part)
        let left = value(Int64(index), channel)
        let right = value(Int64(index) + 1, channel)
        return left + (right - left) * weight
    }
}
