import ProtocolCore

/// The times on the local wall clock at which a rule is due.
public enum Schedule: Hashable, Sendable {
    /// Once per day of the set, at this local time.
    case daily(TimeOfDay, on: Weekdays)
    /// On each day of the set, at the time of the sun event plus the offset.
    ///
    /// - Parameter offset: the delay after the sun event; negative for a time before it.
    case sun(SunEvent, offset: Duration, on: Weekdays)
    /// Each minute that matches the cron expression.
    case cron(CronSchedule)
}

/// An event of the sun that occurs at most once per day.
public enum SunEvent: String, Hashable, Sendable, CaseIterable {
    case sunrise, sunset
}

/// A set of days of the week.
public struct Weekdays: OptionSet, Hashable, Sendable {
    /// Bit 0 is Monday, bit 6 is Sunday.
    public let rawValue: UInt8
    /// Creates the set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let monday = Weekdays(rawValue: 1 << 0)
    public static let tuesday = Weekdays(rawValue: 1 << 1)
    public static let wednesday = Weekdays(rawValue: 1 << 2)
    public static let thursday = Weekdays(rawValue: 1 << 3)
    public static let friday = Weekdays(rawValue: 1 << 4)
    public static let saturday = Weekdays(rawValue: 1 << 5)
    public static let sunday = Weekdays(rawValue: 1 << 6)
    /// Every day of the week.
    public static let all = Weekdays(rawValue: 0x7F)

    /// Three-letter names, Monday first.
    public static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Creates the set with one day.
    ///
    /// - Parameter day: days since 1970-01-01, which was a Thursday.
    public init(day: Int64) { rawValue = 1 << UInt8(((day + 3) % 7 + 7) % 7) }
}

/// The minutes that match five sets, as in crontab(5).
public struct CronSchedule: Hashable, Sendable {
    /// The expression as the user wrote it.
    public var text: String
    /// Bit n is set if minute n matches, 0 to 59.
    public var minutes: UInt64
    /// Bit n is set if hour n matches, 0 to 23.
    public var hours: UInt32
    /// Bit n is set if day n of the month matches, 1 to 31.
    public var days: UInt32
    /// Bit n is set if month n matches, 1 to 12.
    public var months: UInt16
    /// The matching days of the week.
    public var weekdays: Weekdays
    /// True if a matching day of the month or a matching day of the week is enough. False if both must match, as
    /// crontab(5) requires if one of the two fields begins with a star.
    public var eitherDay: Bool
    /// True if the minute or the hour begins with a star. Debian's cron calls this a wildcard job. It runs again in an
    /// hour that the clock repeats, and not for an hour that the clock skips.
    public var isWildcard: Bool

    /// Creates a schedule from sets that are already parsed.
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
