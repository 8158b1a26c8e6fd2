import RuleModel

/// A set of times of the local week, as ranges of seconds since Monday 00:00.
struct WeekTimes: Hashable {
    static let day = 86_400
    static let week = 7 * day
    static let always = WeekTimes([0..<week])

    /// The ranges in ascending order. They do not overlap, and each contains at least one second.
    let ranges: [Range<Int>]

    var isEmpty: Bool { ranges.isEmpty }

    init(_ ranges: [Range<Int>]) {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.ranges = merged
    }

    /// Creates the range from `from` to `to` seconds on each of the days.
    init(_ days: Weekdays, from: Int = 0, to: Int = WeekTimes.day) {
        self.init(days.indices.map { $0 * Self.day + from..<$0 * Self.day + to })
    }

    /// Creates a daily window. Equal ends mean the whole day. A window across midnight is the complement of the time
    /// that it excludes.
    init(after: TimeOfDay, before: TimeOfDay) {
        if after == before {
            self = .always
        } else if after < before {
            self.init(.all, from: after.second, to: before.second)
        } else {
            self = WeekTimes(.all, from: before.second, to: after.second).complement
        }
    }

    /// Creates the set that contains the first second of each minute that may match, on the weekdays of
    /// ``CronSchedule/certainWeekdays``.
    init(_ cron: CronSchedule) {
        let days = cron.certainWeekdays
        let hours = (0..<24).filter { cron.hours >> UInt32($0) & 1 == 1 }
        let minutes = (0..<60).filter { cron.minutes >> UInt64($0) & 1 == 1 }
        let seconds = hours.flatMap { hour in minutes.map { hour * 3600 + $0 * 60 } }
        self.init(days.indices.flatMap { day in seconds.map { day * Self.day + $0..<day * Self.day + $0 + 1 } })
    }

    var complement: WeekTimes {
        let starts = [0] + ranges.map(\.upperBound)
        let ends = ranges.map(\.lowerBound) + [Self.week]
        return WeekTimes(zip(starts, ends).map { $0..<$1 })
    }

    func intersection(_ other: WeekTimes) -> WeekTimes {
        var common: [Range<Int>] = []
        var (mine, its) = (0, 0)
        while mine < ranges.count, its < other.ranges.count {
            let shared = ranges[mine].clamped(to: other.ranges[its])
            if !shared.isEmpty { common.append(shared) }
            if ranges[mine].upperBound < other.ranges[its].upperBound { mine += 1 } else { its += 1 }
        }
        return WeekTimes(common)
    }
}

extension Weekdays {
    /// The numbers of the days; 0 for Monday.
    var indices: [Int] { (0..<7).filter { rawValue >> UInt8($0) & 1 == 1 } }
}
