public import ProtocolCore

/// Active energy out of what is measured at irregular instants, in exact integers: what the meter's own counter says, or the
/// trapezoid between each two powers. The total only rises: power fed back counts as none, and no error accumulates over the
/// years. It never rises by more than a plausible power can deliver, whatever a meter says.
public struct EnergyCounter: Sendable {
    /// Whole milliwatt-hours so far.
    public private(set) var milliwattHours: UInt64
    /// What is left over, in units of 0.05 nJ; always less than one milliwatt-hour of them.
    private var remainder: UInt64 = 0
    private var last: (time: Instant, deciwatts: UInt32)?
    private let gapLimit: Duration
    private let plausibleDeciwatts: UInt32

    /// 1 mWh = 3.6 J. The sum of two powers in tenths of a watt times nanoseconds counts in 0.1 nJ / 2.
    private static let unitsPerMilliwattHour: UInt64 = 72_000_000_000
    private static let unitsPerMicrowattHour: UInt128 = 72_000_000
    /// 10 kW, more than the outlets of any house deliver: 16 A at 250 V are 4 kW, 30 A at 240 V are 7.2 kW.
    public static let plausibleDeciwatts: UInt32 = 100_000

    /// - Parameters:
    ///   - milliwattHours: the total to go on from, as it was stored.
    ///   - gapLimit: two measurements further apart than this are not joined, because nobody knows what was drawn between.
    ///   - plausibleDeciwatts: a load draws at most so much, in tenths of a watt.
    public init(
        milliwattHours: UInt64 = 0, gapLimit: Duration = .seconds(30),
        plausibleDeciwatts: UInt32 = EnergyCounter.plausibleDeciwatts
    ) {
        self.milliwattHours = milliwattHours
        self.gapLimit = gapLimit
        self.plausibleDeciwatts = plausibleDeciwatts
    }

    /// Adds the energy since the measurement before: what the meter's counter says, where it can be true, otherwise what lies
    /// between the two powers. A time before the last one adds nothing and starts anew from there.
    public mutating func add(_ measurement: Measurement, at time: Instant) {
        add(deciwatts: measurement.deciwatts, microwattHours: measurement.addedMicrowattHours, at: time)
    }

    /// Adds what lies between the power before and this one.
    public mutating func add(deciwatts: Int32, at time: Instant) {
        add(deciwatts: deciwatts, microwattHours: nil, at: time)
    }

    private mutating func add(deciwatts: Int32, microwattHours: Int64?, at time: Instant) {
        let power = min(UInt32(max(0, deciwatts)), plausibleDeciwatts)
        defer { last = (time, power) }
        guard let last, time > last.time else { return }
        let nanoseconds = UInt128((time - last.time).wholeNanoseconds)
        if let microwattHours {
            let units = UInt128(max(0, microwattHours)) * Self.unitsPerMicrowattHour
            // A meter's counter sees across a gap, so that no limit of time applies to it.
            if units <= 2 * UInt128(plausibleDeciwatts) * nanoseconds { return count(units) }
        }
        guard time - last.time <= gapLimit else { return }
        count((UInt128(last.deciwatts) + UInt128(power)) * nanoseconds)
    }

    private mutating func count(_ units: UInt128) {
        let (whole, rest) = (units + UInt128(remainder)).quotientAndRemainder(
            dividingBy: UInt128(Self.unitsPerMilliwattHour))
        let (sum, overflow) = milliwattHours.addingReportingOverflow(UInt64(clamping: whole))
        milliwattHours = overflow ? .max : sum
        remainder = UInt64(rest)
    }
}
