/// One sample with what it adds to the one before.
struct PowerStep {
    /// A longer step is a hole: what was drawn in it is not known.
    static let longest: Int64 = 30_000
    /// 100 kW, in tenths of a watt. No plug feeds more; it keeps sums from overflowing whatever comes.
    static let largest: Int32 = 1_000_000
    /// Times beyond these, 140,000 years around zero, are no times.
    static let times = -(Int64(1) << 52)...(Int64(1) << 52)

    var time: Int64
    var power: Int32
    /// Since the sample before; 0 for the first.
    var elapsed: Int64
    /// Tenths of a watt times milliseconds; 0 over a hole.
    var energy: Int64

    /// What of the step was measured: all of it, or nothing of a hole.
    var covered: Int64 { elapsed <= Self.longest ? elapsed : 0 }
    /// A hole counts as its first half minute where only the passing of time matters.
    var credited: Int64 { min(elapsed, Self.longest) }

    static func milliwattHours(_ energy: Int64) -> Int64 { (energy + 18_000) / 36_000 }
}
