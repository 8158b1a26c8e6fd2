import Glibc
import ProtocolCore

/// A point in civil time, for printing and storing. It jumps when the clock is set, so machines do not use it.
public struct WallTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z in POSIX time. The range is from 1677 to 2262.
    public var nanosecondsSince1970: Int64

    /// Creates a time.
    public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }

    /// Creates a time. Values out of range become the nearest valid time, so that any value of a file, a database or a
    /// peer is accepted.
    public init(millisecondsSince1970: Int64) {
        self = WallTime(nanosecondsSince1970: 0) + .milliseconds(millisecondsSince1970)
    }

    /// The host's current time (CLOCK_REALTIME). It may be wrong until a time service has set the clock.
    public static var now: WallTime {
        var time = timespec()
        guard clock_gettime(CLOCK_REALTIME, &time) == 0 else {
            preconditionFailure("CLOCK_REALTIME exists on every kernel")
        }
        return WallTime(nanosecondsSince1970: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The offset of the host's time zone from UTC in seconds at this time, including daylight saving.
    public var localOffset: Int {
        HostZone.offset(at: Int(floorDivide(nanosecondsSince1970, 1_000_000_000)))
    }

    /// The minute of the day in the host's time zone, 0 to 1439.
    public var localMinuteOfDay: Int { minuteOfDay(offset: localOffset) }

    /// The second of the current minute, 0 to 59, which is the same in all time zones of today.
    public var secondOfMinute: Int {
        let seconds = floorDivide(nanosecondsSince1970, 1_000_000_000)
        return Int(seconds - floorDivide(seconds, 60) * 60)
    }

    /// Returns the minute of the day at an offset from UTC in seconds.
    func minuteOfDay(offset: Int) -> Int {
        let minutes = floorDivide(floorDivide(nanosecondsSince1970, 1_000_000_000) + Int64(offset), 60)
        return Int(minutes - floorDivide(minutes, 1440) * 1440)
    }

    /// Formats the time in ISO 8601 with milliseconds, such as `2026-11-21T09:01:23.456Z`. With an offset from UTC in
    /// seconds, the result is the civil time at this offset, followed by the offset instead of `Z`, such as
    /// `2026-11-21T10:01:23.456+01:00`. Milliseconds are rounded down, so that a printed time is never in the future.
    /// Offsets are cut to whole minutes.
    public func iso8601(offset: Int = 0) -> String {
        let minutesAhead = offset / 60
        let milliseconds = floorDivide(nanosecondsSince1970, 1_000_000) + Int64(minutesAhead) * 60_000
        let days = floorDivide(milliseconds, 86_400_000)
        let ofDay = Int(milliseconds - days * 86_400_000)
        let date = civilDate(daysSince1970: Int(days))
        var text = padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2)
        text += "T" + padded(ofDay / 3_600_000, 2) + ":" + padded(ofDay / 60_000 % 60, 2)
        text += ":" + padded(ofDay / 1000 % 60, 2) + "." + padded(ofDay % 1000, 3)
        guard minutesAhead != 0 else { return text + "Z" }
        let size = abs(minutesAhead)
        return text + (minutesAhead < 0 ? "-" : "+") + padded(size / 60, 2) + ":" + padded(size % 60, 2)
    }

    /// Adds a duration. Results out of range become the nearest valid time.
    public static func + (left: WallTime, right: Duration) -> WallTime {
        WallTime(nanosecondsSince1970: (Instant(nanoseconds: left.nanosecondsSince1970) + right).nanoseconds)
    }

    /// Subtracts a duration. Results out of range become the nearest valid time.
    public static func - (left: WallTime, right: Duration) -> WallTime { left + (.zero - right) }

    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }
}

private func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}

private func padded(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// Returns the proleptic Gregorian date of a day number. The computation starts years in March: 29 February is then the
/// last day of a year, and month m starts at day (153 m + 2) / 5.
private func civilDate(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
    let daysBeforeEpoch = 719_468  // from 0000-03-01 to 1970-01-01
    let daysIn400Years = 146_097
    let count = daysSince1970 + daysBeforeEpoch
    let era = (count >= 0 ? count : count - daysIn400Years + 1) / daysIn400Years
    let dayOfEra = count - era * daysIn400Years
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
}
