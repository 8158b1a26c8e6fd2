import Metering

/// Sums up samples by steps of time, both for roll-ups and for summaries that are computed without roll-ups. Between
/// two samples at most 30 s apart active power is assumed to change linearly (trapezoids). The division of a trapezoid
/// between two steps depends only on its two samples, so the order in which the plug's chunks arrive does not matter.
struct SampleSum {
    /// Milliseconds, at least 60,000, which is more than the longest trapezoid.
    private let step: Int64
    private(set) var sums: [(start: Int64, entry: RollUpEntry)] = []

    private var start = Int64.min
    private var end = Int64.min
    private var covered: Int64 = 0
    /// The integral of power: twice deciwatts times milliseconds, so that a trapezoid is an integer.
    private var doubled: Int64 = 0
    private var least = Int32.max
    private var greatest = Int32.min
    private var lastTime: Int64?
    private var lastPower: Int32 = 0

    init(step: RollUpStep) { self.step = step.milliseconds }

    /// The wall clock at the last added sample.
    var last: Int64? { lastTime }

    /// Adds samples, with their times moved by `origin`. A sample that is not later than the previous one is skipped.
    mutating func add(_ samples: [Sample], origin: Int64, from: Int64 = .min, to: Int64 = .max) {
        let samples = samples.span
        guard !samples.isEmpty else { return }
        var (time, power) = (lastTime ?? .min, lastPower)
        for index in samples.indices {
            let sample = samples[index]
            let now = sample.milliseconds &+ origin
            guard now > time, now >= from, now <= to else { continue }
            if now < end {
                // The step of nearly all samples is that of the previous sample.
                if now &- time <= RollUpEntry.longestStep {
                    covered &+= now &- time
                    doubled &+= (Int64(power) &+ Int64(sample.deciwatts)) &* (now &- time)
                }
            } else {
                enterStep(at: now, power: sample.deciwatts, after: time == .min ? nil : time, power)
            }
            least = min(least, sample.deciwatts)
            greatest = max(greatest, sample.deciwatts)
            (time, power) = (now, sample.deciwatts)
        }
        guard time > .min else { return }
        (lastTime, lastPower) = (time, power)
    }

    /// Ends the last step and returns all sums.
    mutating func finish() -> [(start: Int64, entry: RollUpEntry)] {
        close()
        return sums
    }

    /// Handles a sample of a later step: both steps get their part of the trapezoid between the samples.
    private mutating func enterStep(at now: Int64, power: Int32, after time: Int64?, _ before: Int32) {
        let next = floorMultiple(now, step)
        var second: (covered: Int64, doubled: Int64) = (0, 0)
        if let time, now - time <= RollUpEntry.longestStep {
            let (whole, first) = (now - time, next - time)
            let rise = Int64(power) - Int64(before)
            let firstDoubled = 2 * Int64(before) * first + rise * first * first / whole
            covered += first
            doubled += firstDoubled
            second = (now - next, (Int64(before) + Int64(power)) * whole - firstDoubled)
        }
        close()
        (start, end) = (next, next + step)
        (covered, doubled) = second
        (least, greatest) = (.max, .min)
    }

    private mutating func close() {
        guard least <= greatest else { return }
        let mean = covered > 0 ? Self.milliwatts(doubled, covered) : (Int64(least) + Int64(greatest)) * 50
        sums.append(
            (start, RollUpEntry(covered: covered, power: .init(mean: mean, least: least, greatest: greatest))))
        (least, greatest) = (.max, .min)
    }

    /// Rounds to the nearest integer, without an overflow of intermediate products.
    private static func milliwatts(_ doubled: Int64, _ covered: Int64) -> Int64 {
        let (quotient, remainder) = doubled.quotientAndRemainder(dividingBy: covered)
        let half = remainder < 0 ? -covered / 2 : covered / 2
        return quotient * 50 + (remainder * 50 + half) / covered
    }
}

/// The greatest multiple of `step` that is not greater than `value`.
func floorMultiple(_ value: Int64, _ step: Int64) -> Int64 { floorQuotient(value, step) * step }

/// Divides and rounds down, also below zero.
func floorQuotient(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}

/// The least multiple of `step` that is not less than `value`.
func ceilingMultiple(_ value: Int64, _ step: Int64) -> Int64 { -floorMultiple(-value, step) }
