/// A date and time of day in the Gregorian calendar, as shown on a local clock.
public struct CivilTime: Hashable, Sendable {
    /// The year of the calendar, for example 2026.
    public var year: Int
    /// 1 to 12.
    public var month: Int
    /// 1 to 31.
    public var day: Int
    /// 0 to 23.
    public var hour = 0
    /// 0 to 59.
    public var minute = 0
    /// 0 to 59.
    public var second = 0

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Creates the midnight of a date. The date is not validated.
    public init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the time from local seconds, rounded down to a whole second.
    ///
    /// - Parameter seconds: seconds since 1970-01-01 00:00 local time (UTC plus the zone's offset).
    public init(localSeconds seconds: Double) {
        let whole = Int(seconds.rounded(.down))
        let days = floorDivide(whole, 86_400)
        let secondOfDay = whole - days * 86_400
        self.init(daysSince1970: days)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
    }

    /// Creates the midnight of the date that is this number of days after 1970-01-01. The calculation counts years from
    /// March, so that 29 February is the last day of its year, in eras of 400 years with 146,097 days each. 719,468
    /// days lie between 0000-03-01 and 1970-01-01.
    private init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        self.init(
            year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// The number of days from 1970-01-01 to the date; negative for a date before 1970-01-01.
    public var daysSince1970: Int {
        let fromMarch = month <= 2 ? year - 1 : year
        let era = floorDivide(fromMarch, 400)
        let yearOfEra = fromMarch - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Seconds since 1970-01-01 00:00 local time.
    public var localSeconds: Double { Double(daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second) }

    /// True at 00:00:00.
    public var isMidnight: Bool { hour == 0 && minute == 0 && second == 0 }
    /// Three letters, for example `Nov`.
    public var monthName: String { CivilTime.monthNames[month - 1] }
    /// For example `07:30`.
    public var clock: String { twoDigits(hour) + ":" + twoDigits(minute) }
    /// For example `07:30:15`.
    public var clockWithSeconds: String { clock + ":" + twoDigits(second) }
    /// For example `20 Nov`.
    public var dayAndMonth: String { "\(day) \(monthName)" }
    /// For example `20 Nov 2026`.
    public var date: String { "\(dayAndMonth) \(year)" }
}

private func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

/// Divides and rounds down, also for a negative dividend. The divisor must be positive.
public func floorDivide(_ dividend: Int, _ divisor: Int) -> Int {
    let quotient = dividend / divisor
    return dividend % divisor < 0 ? quotient - 1 : quotient
}
