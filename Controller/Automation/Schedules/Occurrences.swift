import HouseCalendar
import ProtocolCore
import RuleModel

/// A time at which a schedule is due.
struct Occurrence: Hashable, Sendable {
    var instant: Instant
    /// Identifies the occurrence within its schedule, also after the clock was set: the day of a sun schedule, or the
    /// second of any other schedule, since 1970-01-01 in the local calendar. ``repetition`` is added if the clock shows
    /// the second again.
    var number: Int64

    /// The offset that marks a repeated second. It is larger than the local second of any date.
    static let repetition: Int64 = 1 << 40
}

extension Schedule {
    /// The number of days to search for the next occurrence: over eight years, which includes every date, even 29
    /// February around 2100.
    private static let longestSearch: Int64 = 3000

    /// True for a wildcard schedule of cron.
    var isWildcard: Bool { if case .cron(let cron) = self { cron.isWildcard } else { false } }

    /// Returns the first occurrence after this instant. Nil if the search finds no occurrence or the local time is
    /// unknown.
    func next(after instant: Instant, _ time: LocalTime, _ sun: SunTimes) -> Occurrence? {
        switch self {
        case .sun(let event, let offset, let days):
            return sun.days.lazy.compactMap { day -> Occurrence? in
                guard days.contains(Weekdays(day: day.day)), let rises = day.instant(of: event) else { return nil }
                return rises + offset > instant ? Occurrence(instant: rises + offset, number: day.day) : nil
            }.min { $0.instant < $1.instant }
        case .daily(let clock, let days):
            return search(after: instant, time) { days.contains(Weekdays(day: $0)) ? [Int64(clock.second)] : [] }
        case .cron(let cron):
            return cron.isWildcard
                ? pass(after: instant, time, cron)
                : search(after: instant, time) { cron.fits(day: $0) ? cron.seconds : [] }
        }
    }

    /// Finds the next occurrence of a wildcard schedule. Like Debian's cron, the schedule is due twice in an hour that
    /// the clock repeats, and never in an hour that it skips.
    private func pass(after instant: Instant, _ time: LocalTime, _ cron: CronSchedule) -> Occurrence? {
        let seconds = cron.seconds
        let found = time.next(after: instant) { first in
            let today = Int64(floorDivide(Int(clamping: first), 86_400))
            for day in today...(today + Self.longestSearch) where cron.fits(day: day) {
                let second = seconds.first { day &* 86_400 &+ $0 >= first }
                if let second { return day &* 86_400 &+ second }
            }
            return nil
        }
        return found.map { due, second in
            let isRepetition = time.isRepetition(at: due)
            return Occurrence(instant: due, number: second &+ (isRepetition ? Occurrence.repetition : 0))
        }
    }

    /// Searches day by day. A local time that the clock skips is due at the first moment after the gap. A repeated
    /// local time is due when it occurs first.
    private func search(
        after instant: Instant, _ time: LocalTime, _ seconds: (Int64) -> [Int64]
    ) -> Occurrence? {
        guard let today = time.day(at: instant) else { return nil }
        // The search starts on the previous day, because its 24:00 may be due and because a clock that is set back may
        // return to that day.
        for day in (today - 1)...(today + Self.longestSearch) {
            for second in seconds(day) {
                let number = day &* 86_400 &+ second
                guard let due = time.instant(of: number), due > instant else { continue }
                return Occurrence(instant: due, number: number)
            }
        }
        return nil
    }
}

extension CronSchedule {
    func fits(day: Int64) -> Bool {
        let date = CivilTime(localSeconds: Double(day) * 86_400)
        guard months >> UInt16(date.month) & 1 == 1 else { return false }
        let fitsDate = days >> UInt32(date.day) & 1 == 1
        let fitsWeek = weekdays.contains(Weekdays(day: day))
        return eitherDay ? fitsDate || fitsWeek : fitsDate && fitsWeek
    }

    /// The matching seconds of a day, in ascending order.
    var seconds: [Int64] {
        let wanted = (0..<60).filter { (minutes >> UInt64($0)) & 1 == 1 }
        var seconds: [Int64] = []
        for hour in 0..<24 where (hours >> UInt32(hour)) & 1 == 1 {
            for minute in wanted { seconds.append(Int64(hour * 3600 + minute * 60)) }
        }
        return seconds
    }
}

extension SunTimes {
    /// Returns the start or end of daylight on a day; nil if the day is unknown.
    func light(_ event: SunEvent, day: Int64) -> Instant? {
        var (low, high) = (0, days.count)
        while low < high {
            let middle = (low + high) / 2
            if days[middle].day < day { low = middle + 1 } else { high = middle }
        }
        guard low < days.count, days[low].day == day else { return nil }
        switch event {
        case .sunrise: return days[low].lightFrom
        case .sunset: return days[low].lightUntil
        }
    }
}
