public import HouseCalendar

/// The length of a roll-up entry; a quarter is a quarter of an hour. Entries begin at multiples of their length since
/// 1970, in UTC.
public enum RollUpStep: Int, CaseIterable, Hashable, Sendable {
    case minute, quarter, hour, day

    /// The length of the step.
    public var milliseconds: Int64 {
        switch self {
        case .minute: 60_000
        case .quarter: 900_000
        case .hour: 3_600_000
        case .day: 86_400_000
        }
    }
}

/// The active power of one step that has at least one sample.
public struct PowerSummary: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var start: Int64
    /// The time between samples that are at most 30 s apart, in milliseconds. The power of the remaining time is
    /// unknown, not zero.
    public var coveredMilliseconds: Int64
    /// Time-weighted mean in watts over the covered time.
    public var mean: Double
    /// The least sample in watts.
    public var least: Double
    /// The greatest sample in watts.
    public var greatest: Double
    /// The energy, including an estimate for time without samples. For minutes, only the energy that the samples show.
    public var milliwattHours: Double

    /// Creates a summary.
    public init(
        start: Int64, coveredMilliseconds: Int64, mean: Double, least: Double, greatest: Double, milliwattHours: Double
    ) {
        self.start = start
        self.coveredMilliseconds = coveredMilliseconds
        self.mean = mean
        self.least = least
        self.greatest = greatest
        self.milliwattHours = milliwattHours
    }
}

/// The energy of a period of the local calendar.
public struct PeriodEnergy: Hashable, Sendable {
    /// The period.
    public var period: CalendarPeriod
    /// The total energy, including the estimated part.
    public var milliwattHours: Double
    /// The part of the energy that the plug's counter measured while no samples are known. Its distribution over time
    /// is an estimate.
    public var estimatedMilliwattHours: Double
    /// The time between samples that are at most 30 s apart, in milliseconds.
    public var coveredMilliseconds: Int64
    /// Time-weighted mean in watts over the covered time; nil without samples.
    public var mean: Double?
    /// The least sample in watts; nil without samples.
    public var least: Double?
    /// The greatest sample in watts; nil without samples.
    public var greatest: Double?

    /// Creates the energy of a period.
    public init(
        period: CalendarPeriod, milliwattHours: Double = 0, estimatedMilliwattHours: Double = 0,
        coveredMilliseconds: Int64 = 0, mean: Double? = nil, least: Double? = nil, greatest: Double? = nil
    ) {
        self.period = period
        self.milliwattHours = milliwattHours
        self.estimatedMilliwattHours = estimatedMilliwattHours
        self.coveredMilliseconds = coveredMilliseconds
        self.mean = mean
        self.least = least
        self.greatest = greatest
    }
}
