public import ProtocolCore

/// Computes active energy from measurements at irregular times, in exact integers: from the meter's own counter, or as
/// the trapezoid between two powers. The total only rises: power that is fed back counts as zero, and no error
/// accumulates over the years. Each increase is limited to the energy of the highest plausible power, even if the meter
/// reports more.
public struct EnergyCounter: Sendable {
    /// The total in whole milliwatt-hours.
    public private(set) var milliwattHours: UInt64
    /// The remainder in units of 0.05 nJ, always less than one milliwatt-hour.
    private var remainder: UInt64 = 0
    private var last: (time: Instant, deciwatts: UInt32)?
    private let gapLimit: Duration
    private let plausibleDeciwatts: UInt32

    /// The units of 0.05 nJ in 1 mWh (3.6 J). The sum of two powers in tenths of a watt, times nanoseconds, has this
    /// unit.
    private static let unitsPerMilliwattHour: UInt64 = 72_000_000_000
    private static let unitsPerMicrowattHour: UInt128 = 72_000_000
    /// 10 kW, more than the outlets of any house deliver: 16 A at 250 V are 4 kW, 30 A at 240 V are 7.2 kW.
    public static let plausibleDeciwatts: UInt32 = 100_000

    /// Creates a counter.
    ///
    /// - Parameters:
    ///   - milliwattHours: the stored total to continue from.
    ///   - gapLimit: the longest interval between two measurements for which energy is computed from their powers. In a
    ///     longer interval the power is unknown. The limit does not apply to energy from the meter's own counter.
    ///   - plausibleDeciwatts: the highest power of a load, in tenths of a watt.
    public init(
        milliwattHours: UInt64 = 0, gapLimit: Duration = .seconds(30),
        plausibleDeciwatts: UInt32 = EnergyCounter.plausibleDeciwatts
    ) {
        self.milliwattHours = milliwattHours
        self.gapLimit = gapLimit
        self.plausibleDeciwatts = plausibleDeciwatts
    }

    /// Adds the energy since the previous measurement: the meter's counter if it is plausible, otherwise the trapezoid
    /// between the two powers. A time before the previous one adds nothing and becomes the new start.
    public mutating func add(_ measurement: Measurement, at time: Instant) {
        add(deciwatts: measurement.deciwatts, microwattHours: measurement.addedMicrowattHours, at: time)
    }

    /// Adds the energy since the previous measurement, as the trapezoid between the previous power and this one.
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
            // A meter's counter also covers gaps, so the gap limit does not apply.
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
