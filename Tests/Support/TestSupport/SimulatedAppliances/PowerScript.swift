public import ProtocolCore

/// Generates the power of an appliance step by step, as a meter measures it: a sample every 1 to 3 s, in steps of a
/// fifth of a watt or more, with noise and optional gaps.
public struct PowerScript: Sendable {
    /// A sample: the time in milliseconds, and the power in tenths of a watt.
    public typealias Point = (milliseconds: Int64, deciwatts: Int32)

    /// The samples so far.
    public private(set) var points: [Point] = []
    /// The true cycles so far, in milliseconds.
    public private(set) var cycles: [ClosedRange<Int64>] = []
    /// The ends of loads within cycles: a second load followed within 20 minutes.
    public private(set) var innerEnds: [Int64] = []
    /// The meter's step in watts.
    var resolution = 0.2
    /// The generator of all random values of the script.
    public var random: SeededRandom
    private let holesADay: Double
    /// The current time in milliseconds. The last sample is up to 3 s older, and even older during a gap.
    private var now: Int64 = 0
    private var next: Int64 = 0
    private var holeEnd: Int64 = 0
    private var nextHole: Int64 = .max
    private var cycleStart: Int64?

    /// Creates an empty script; `holesADay` is the average number of gaps per day.
    public init(seed: UInt64, holesADay: Double) {
        random = SeededRandom(seed: seed)
        self.holesADay = holesADay
        planHole()
    }

    /// Returns a random number in the range.
    public mutating func draw(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
    /// Returns true with this probability.
    public mutating func chance(_ probability: Double) -> Bool { random.chance(probability) }

    /// Adds samples of this power for this time in seconds, with relative noise and an absolute noise of up to 0.2 W.
    public mutating func hold(_ watts: Double, for seconds: Double, noise: Double = 0.02) {
        let end = now + Int64(seconds * 1000)
        while next < end {
            let measured = max(0, watts * (1 + draw(-noise...noise)) + draw(-0.2...0.2))
            if next >= holeEnd { points.append((next, reading(measured))) }
            if next >= nextHole {
                holeEnd = next + Int64(draw(30...600) * 1000)
                planHole()
            }
            next += chance(0.6) ? 1000 : chance(0.8) ? 2000 : 3000
        }
        now = end
    }

    /// Runs a motor in alternating turns and rests for at least this time in seconds, and then for a last turn.
    public mutating func turn(
        _ watts: Double, for on: ClosedRange<Double>, rest: Double, for off: ClosedRange<Double>, during seconds: Double
    ) {
        let end = now + Int64(seconds * 1000)
        while now < end {
            hold(watts * draw(0.8...1.2), for: draw(on), noise: 0.15)
            hold(rest, for: draw(off))
        }
        // The motor ends with a turn, because a rest at the end does not belong to the cycle.
        hold(watts, for: on.lowerBound, noise: 0.1)
    }

    /// Marks the time of all samples that the closure adds as one cycle.
    public mutating func cycle(_ body: (inout PowerScript) -> Void) {
        let start = now
        body(&self)
        cycles.append(start...now)
    }

    /// Marks the current time as the end of a load, after which the cycle continues with a second load.
    mutating func endLoad() { innerEnds.append(now) }

    private func reading(_ watts: Double) -> Int32 {
        Int32(((watts / resolution).rounded() * resolution * 10).rounded())
    }

    private mutating func planHole() {
        guard holesADay > 0 else { return }
        nextHole = max(next, holeEnd) + Int64(draw(0.1...1.9) * 86_400_000 / holesADay)
    }
}
