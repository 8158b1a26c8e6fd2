import HouseCalendar
import PlugModel
import ProtocolCore

struct ScheduleTrigger: Sendable {
    let rule: Int
    let place: Int
    let schedule: Schedule
    let seed: FiringSeed
    /// The next known occurrence, or nil.
    var next: Occurrence?
    /// The number of the last evaluated occurrence; nil before the first one. The occurrence is not evaluated again if
    /// the clock is set back by at most ``RuleEngine/longestSetBack``.
    var judged: Int64?
}

extension RuleEngine {
    /// If the clock is set back by more than this, its earlier time counts as wrong. Occurrences after the new time are
    /// then evaluated again.
    static let longestSetBack = Duration.seconds(86_400)
    /// The maximum number of due occurrences of one schedule that are evaluated in one event. The others are skipped.
    private static let maximumLate = 100

    /// Handles a new setting of the wall clock, or new times of the sun. Occurrences between the last evaluation on the
    /// old clock and now are late. An evaluated occurrence is evaluated again only if the clock was set back by more
    /// than ``longestSetBack``.
    mutating func clockChanged(_ time: LocalTime, _ sun: SunTimes, now: Instant) {
        if let old = localTime, let judged = judgedUntil, old != time {
            judgedUntil = time.instant(with: old, at: judged) ?? judged
        }
        if let judged = judgedUntil, judged - now > Self.longestSetBack {
            judgedUntil = now
            for place in schedules.indices { schedules[place].judged = nil }
        }
        for index in slots.indices { slots[index].counter.quiet = nil }
        let isFirst = localTime == nil
        localTime = time
        self.sun = sun
        let from = judgedUntil ?? now
        judgedUntil = from
        for place in schedules.indices {
            guard schedules[place].schedule.isWildcard else {
                findNext(place, after: from)
                continue
            }
            // At the first setting, a wildcard schedule continues after the last evaluation. At a later setting, it
            // continues at the present time of the new clock, and an occurrence that is already due is still evaluated.
            let due = schedules[place].next.map { $0.instant - .nanoseconds(1) }
            findNext(place, after: min(isFirst ? from : due ?? now, now))
        }
        findScheduleDeadline()
    }

    mutating func findNext(_ place: Int, after instant: Instant) {
        guard let time = localTime else { return schedules[place].next = nil }
        let trigger = schedules[place]
        var next = trigger.schedule.next(after: instant, time, sun)
        while let found = next, let judged = trigger.judged, found.number == judged {
            next = trigger.schedule.next(after: found.instant, time, sun)
        }
        schedules[place].next = next
    }

    /// Evaluates each due occurrence once. If several occurrences of a trigger are older than the rule accepts, only
    /// the first is reported.
    mutating func endSchedules(now: Instant, _ actions: inout [Action]) {
        guard let due = scheduleDeadline, due <= now else { return }
        let from = max(judgedUntil ?? now, now)
        var last: Int?
        // The occurrences for which the current rule was fired. Several triggers of a rule that are due at the same
        // time fire it once.
        var moments: Set<Instant> = []
        for place in schedules.indices {
            if schedules[place].rule != last { moments = [] }
            last = schedules[place].rule
            var isTold = false
            var count = 0
            while let next = schedules[place].next, next.instant <= now {
                let trigger = schedules[place]
                let rule = states[trigger.rule].rule
                let age = now - next.instant
                schedules[place].judged = next.number
                count += 1
                let isLate = age > rule.maximumAge
                if (!isLate || !isTold) && moments.insert(next.instant).inserted {
                    isTold = isLate
                    var cause = Firing.Cause(states[trigger.rule].sources[trigger.place])
                    if age >= .seconds(1) { cause.age = age }
                    let key = trigger.seed.key(UInt64(bitPattern: next.number))
                    fire(trigger.rule, cause, key, age: age, now: now, &actions)
                }
                // Skips all occurrences that are too old for the rule in one step.
                let oldest = now - rule.maximumAge - .nanoseconds(1)
                findNext(
                    place, after: count < Self.maximumLate ? max(next.instant, isLate ? oldest : next.instant) : now)
            }
        }
        judgedUntil = from
        findScheduleDeadline()
    }

    mutating func findScheduleDeadline() { scheduleDeadline = schedules.lazy.compactMap { $0.next?.instant }.min() }
}
