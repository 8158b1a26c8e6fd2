import PlugModel
import ProtocolCore

struct ScheduleTrigger: Sendable {
    let rule: Int
    let place: Int
    let schedule: Schedule
    let seed: FiringSeed
    /// The next one; nil: none that is known.
    var next: Occurrence?
    /// The last one that was judged: a clock that was set a little does not bring it back.
    var judged: Int64?
}

extension RuleEngine {
    /// A clock that was set back further was wrong: what it judged ahead of now does not count.
    static let longestSetBack = Duration.seconds(86_400)
    /// Late occurrences of one schedule that are judged at once.
    private static let maximumLate = 100

    /// The wall clock was set, or its future is known better. Every occurrence between what was judged on the old one and now is late;
    /// what was judged is not judged again where the clock was set back.
    mutating func clockChanged(_ time: LocalTime, _ sun: SunTimes, now: Instant) {
        if let old = localTime, let judged = judgedUntil, old != time {
            judgedUntil = time.instant(with: old, at: judged) ?? judged
        }
        if let judged = judgedUntil, judged - now > Self.longestSetBack {
            judgedUntil = now
            for place in schedules.indices { schedules[place].judged = nil }
        }
        for index in counters.indices { counters[index].quiet = nil }
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
            // Wildcard schedules follow the clock as it is, however it was set. One that is due already is not lost.
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

    /// Judges each occurrence that is due, once. Of those that are too late for the rule the first is told.
    mutating func endSchedules(now: Instant, _ actions: inout [Action]) {
        guard let due = scheduleDeadline, due <= now else { return }
        let from = max(judgedUntil ?? now, now)
        var last: Int?
        // Moments at which the last rule has been fired, so that several triggers that come together fire it once.
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
                // What is long over is stepped over at once.
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
