/// Noise as a pure function of time, so that a simulated load can be asked about any moment, in any order, and always
/// says the same.
struct Noise: Hashable, Sendable {
    let seed: UInt64

    /// A number from -1 to 1 for a whole number, uniformly distributed.
    func value(_ index: Int64, _ channel: UInt64 = 0) -> Double {
        // The finalizer of SplitMix64: neighbouring indices get unrelated values.
        var mixed = seed &+ UInt64(bitPattern: index) &* 0x9E37_79B9_7F4A_7C15 &+ channel &* 0xD1B5_4A32_D192_ED03
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) / 0x1p52 - 1
    }

    /// Jumps from step to step, each lasting `period` seconds; -1 to 1.
    func stepped(_ seconds: Double, period: Double, _ channel: UInt64 = 0) -> Double {
        value(Int64((seconds / period).rounded(.down)), channel)
    }

    /// Wanders without jumps, with a new direction every `period` seconds; -1 to 1.
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
