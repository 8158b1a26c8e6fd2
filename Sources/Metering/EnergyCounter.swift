public import ProtocolCore

/// Active energy out of power measured at irregular instants: the trapezoid between each two of them, in exact integers.
/// The total only rises: power fed back counts as none, and no error accumulates over the years.
public struct EnergyCounter: Sendable {
    /// Whole milliwatt-hours so far.
    public private(set) var milliwattHours: UInt64
    /// What is left over, in units of 0.05 nJ; always less than one milliwatt-hour of them.
    private var remainder: UInt64 = 0
    private var last: (time: Instant, deciwatts: UInt32)?
    private let gapLimit: Duration

    /// 1 mWh = 3.6 J. The sum of two powers in tenths of a watt times nanoseconds counts in 0.1 nJ / 2.
    private static let unitsPerMilliwattHour: UInt64 = 72_000_000_000

    /// - Parameters:
    ///   - milliwattHours: the total to go on from, as it was stored.
    ///   - gapLimit: two measurements further apart than this are not joined, because nobody knows what was drawn between.
    public init(milliwattHours: UInt64 = 0, gapLimit: Duration = .seconds(30)) {
        self.milliwattHours = milliwattHours
        self.gapLimit = gapLimit
    }

    /// Adds the energy since the measurement before. A time before the last one adds nothing and starts anew from there.
    public mutating func add(deciwatts: Int32, at time: Instant) {
        let power = UInt32(max(0, deciwatts))
        defer { last = (time, power) }
        guard let last, time > last.time, time - last.time <= gapLimit else { return }
        let nanoseconds = UInt128((time - last.time).wholeNanoseconds)
        let units = (UInt128(last.deciwatts) + UInt128(power)) * nanoseconds + UInt128(remainder)
        let (whole, rest) = units.quotientAndRemainder(dividingBy: UInt128(Self.unitsPerMilliwattHour))
        let (sum, overflow) = milliwattHours.addingReportingOverflow(UInt64(clamping: whole))
        milliwattHours = overflow ? .max : sum
        remainder = UInt64(rest)
    }

}
