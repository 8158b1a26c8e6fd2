/// One sample, with its difference to the previous one.
struct PowerStep {
    /// Milliseconds. A longer step is a gap with unknown energy.
    static let longest: Int64 = 30_000
    /// 100 kW, in tenths of a watt, more than any plug carries. Keeps sums from overflowing.
    static let largest: Int32 = 1_000_000
    /// The valid times in milliseconds: about 140,000 years before and after zero.
    static let times = -(Int64(1) << 52)...(Int64(1) << 52)

    var time: Int64
    var power: Int32
    /// Milliseconds since the previous sample; 0 for the first.
    var elapsed: Int64
    /// Tenths of a watt times milliseconds; 0 for a gap.
    var energy: Int64

    /// The measured part of the step in milliseconds; 0 for a gap.
    var covered: Int64 { elapsed <= Self.longest ? elapsed : 0 }
    /// The milliseconds that count as passed. A gap counts as 30 s.
    var credited: Int64 { min(elapsed, Self.longest) }

    static func milliwattHours(_ energy: Int64) -> Int64 { (energy + 18_000) / 36_000 }
}
