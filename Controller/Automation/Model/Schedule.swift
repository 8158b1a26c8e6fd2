public import ProtocolCore

/// When a rule is due by the clock on the wall.
public enum Schedule: Hashable, Sendable {
    case daily(TimeOfDay, on: Weekdays)
    /// - Parameter offset: after the sun's event; negative: before it.
    case sun(SunEvent, offset: Duration, on: Weekdays)
    case cron(CronSchedule)
}

public enum SunEvent: String, Hashable, Sendable, CaseIterable {
    case sunrise, sunset
}

/// Days of the week as a set.
public struct Weekdays: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let monday = Weekdays(rawValue: 1 << 0)
    public static let tuesday = Weekdays(rawValue: 1 << 1)
    public static let wednesday = Weekdays(rawValue: 1 << 2)
    public static let thursday = Weekdays(rawValue: 1 << 3)
    public static let friday = Weekdays(rawValue: 1 << 4)
    public static let saturday = Weekdays(rawValue: 1 << 5)
    public static let sunday = Weekdays(rawValue: 1 << 6)
    public static let all = Weekdays(rawValue: 0x7F)

    /// Three letters, as people shorten them, Monday first.
    public static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// - Parameter day: days since 1970-01-01, which was a Thursday.
    public init(day: Int64) { rawValue = 1 << UInt8(((day + 3) % 7 + 7) % 7) }
}

/// Minutes that fit five sets, as crontab(5) has them.
public struct CronSchedule: Hashable, Sendable {
    /// As a person wrote it.
    public var text: String
    /// Bit n for each of 0 to 59, 0 to 23, 1 to 31, 1 to 12.
    public var minutes: UInt64
    public var hours: UInt32
    public var days: UInt32
    public var months: UInt16
    public var weekdays: Weekdays
    /// A day of the month or one of the week is enough. Otherwise both have to fit: crontab(5) wants that where one of the two fields
    /// begins with a star.
    public var eitherDay: Bool
    /// The minute or the hour begins with a star: it comes in each hour of a clock that is set back, and not for an hour that the clock
    /// leaves out. Debian's cron calls this a wildcard job.
    public var isWildcard: Bool

    public init(
        text: String, minutes: UInt64, hours: UInt32, days: UInt32, months: UInt16, weekdays: Weekdays,
        eitherDay: Bool = false, isWildcard: Bool = false
    ) {
        self.text = text
        self.minutes = minutes
        self.hours = hours
        self.days = days
        self.months = months
        self.weekdays = weekdays
        self.eitherDay = eitherDay
        self.isWildcard = isWildcard
    }
}

/// Where the sun rises and sets, as a value for the span at hand. A day without one of the two has none: polar summer or winter.
public struct SunTimes: Hashable, Sendable {
    public struct Day: Hashable, Sendable {
        /// Days since 1970-01-01 of the local calendar.
        public var day: Int64
        public var sunrise: Instant?
        public var sunset: Instant?
        /// When the light of the day begins and ends, for conditions. That is the sunrise and the sunset. On a day without one of them, it is
        /// the moment that the event comes nearest to: the noon on a day in the dark, the middle of the night under a midnight sun.
        public var lightFrom: Instant?
        public var lightUntil: Instant?

        public init(
            day: Int64, sunrise: Instant?, sunset: Instant?, lightFrom: Instant? = nil, lightUntil: Instant? = nil
        ) {
            self.day = day
            self.sunrise = sunrise
            self.sunset = sunset
            self.lightFrom = lightFrom ?? sunrise
            self.lightUntil = lightUntil ?? sunset
        }
    }

    /// By day, each once.
    public let days: [Day]

    /// Where nobody has said where the house stands.
    public static let unknown = SunTimes(days: [])

    public init(days: [Day]) { self.days = days.sorted { $0.day < $1.day } }
}
