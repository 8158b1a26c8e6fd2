public import LocalCalendar

/// How long the time is that one entry of the roll-ups sums up. All begin at multiples of their length since 1970, UTC.
public enum RollUpStep: Int, CaseIterable, Hashable, Sendable {
    case minute, quarter, hour, day

    public var milliseconds: Int64 {
        switch self {
        case .minute: 60_000
        case .quarter: 900_000
        case .hour: 3_600_000
        case .day: 86_400_000
        }
    }
}

/// Active power over a time in which there was at least one sample.
public struct PowerSummary: Hashable, Sendable {
    /// Milliseconds since 1970.
    public var start: Int64
    /// Time between samples at most 30 s apart: the rest is unknown, not zero. Milliseconds.
    public var coveredMilliseconds: Int64
    /// Watts, over the covered time.
    public var mean: Double
    /// Watts, of the samples.
    public var least: Double
    public var greatest: Double
    /// What flowed, with what is estimated for the time that is not covered; of minutes only what the samples show.
    public var milliwattHours: Double

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

/// What flowed in an hour, day or month of the local calendar.
public struct PeriodEnergy: Hashable, Sendable {
    public var period: CalendarPeriod
    /// All of it.
    public var milliwattHours: Double
    /// The part of it that the plug's counter saw while no samples are known: when it flowed is a guess.
    public var estimatedMilliwattHours: Double
    /// Of how long samples are known.
    public var coveredMilliseconds: Int64
    /// Watts, over the covered time; nil without any sample, and so below.
    public var mean: Double?
    public var least: Double?
    public var greatest: Double?

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
