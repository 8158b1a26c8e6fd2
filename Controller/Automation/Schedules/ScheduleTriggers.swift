import HouseCalendar
import PlugModel
import ProtocolCore
import RuleModel

/// A trigger on a schedule.
struct ScheduleTrigger: PlacedTrigger, Sendable {
    let place: TriggerPlace
    let schedule: Schedule
    let seed: FiringSeed
    /// The next known occurrence, or nil.
    private(set) var next: Occurrence?
    /// The number of the last evaluated occurrence; nil before the first one. The occurrence is not evaluated again if
    /// the clock is set back by at most ``RuleEngine/longestSetBack``.
    private(set) var judged: Int64?

    init(_ place: TriggerPlace, _ schedule: Schedule, seed: FiringSeed) {
        (self.place, self.schedule, self.seed) = (place, schedule, seed)
    }

    /// Copies the state of an equal trigger of the previous set of rules.
    mutating func inherit(_ other: ScheduleTrigger?) { (next, judged) = (other?.next, other?.judged) }

    /// Records the last evaluated occurrence; nil to evaluate it again.
    mutating func judge(_ number: Int64?) { judged = number }

    /// Finds the first occurrence after an instant. Skips the last evaluated occurrence.
    mutating func findNext(after instant: Instant, _ time: LocalTime?, _ sun: SunTimes) {
        guard let time else { return next = nil }
        next = schedule.next(after: instant, time, sun)
        while let found = next, let judged, found.number == judged {
            next = schedule.next(after: found.instant, time, sun)
        }
    }
}

extension RuleEngine {
    /// If the clock is set back by more than this, its previous time counts as wrong. Occurrences after the new time
    /// are then evaluated again.
    static let longestSetBack = Duration.seconds(86_400)
}

/// The triggers on schedules.
struct ScheduleTriggers: Sendable {
    /// The maximum number of due occurrences of one schedule that are evaluated in one event. The others are skipped.
    private static let maximumLate = 100

    private var triggers: [ScheduleTrigger] = []
    /// The next time at which an occurrence is due.
    private(set) var deadline: Instant?
    /// The time up to which every schedule was evaluated; nil if the local time was never known.
    private(set) var judgedUntil: Instant?

    mutating func add(_ trigger: ScheduleTrigger) { triggers.append(trigger) }

    /// Continues after the previous set of rules: copies the state of equal triggers, and finds the next occurrence of
    /// each trigger that has none.
    mutating func inherit(_ old: ScheduleTriggers, _ kept: [Int: Int], now: Instant, _ house: HouseState) {
        judgedUntil = old.judgedUntil
        let old = old.triggers.byPlace(kept)
        for index in triggers.indices {
            triggers[index].inherit(old[triggers[index].place])
            if triggers[index].next == nil { findNext(index, after: judgedUntil ?? now, house) }
        }
        findDeadline()
    }

    private mutating func findNext(_ index: Int, after instant: Instant, _ house: HouseState) {
        triggers[index].findNext(after: instant, house.localTime, house.sun)
    }

    private mutating func findDeadline() { deadline = triggers.lazy.compactMap { $0.next?.instant }.min() }

    // MARK: Memory

    /// Returns the last evaluated occurrences.
    func stored(_ rules: RuleTable) -> [EngineMemory.Occurrence] {
        triggers.compactMap { trigger in
            trigger.judged.map { number in
                EngineMemory.Occurrence(
                    rule: rules[trigger.place.rule].rule.name, trigger: rules.words(of: trigger.place), number: number)
            }
        }
    }

    mutating func restore(_ occurrences: [EngineMemory.Occurrence], judgedUntil: Instant?, _ rules: RuleTable) {
        self.judgedUntil = judgedUntil
        for occurrence in occurrences {
            guard let rule = rules.index(of: occurrence.rule) else { continue }
            for index in triggers.indices
            where triggers[index].place.rule == rule && rules.words(of: triggers[index].place) == occurrence.trigger {
                triggers[index].judge(occurrence.number)
            }
        }
    }

    // MARK: Time

    /// Handles a new setting of the wall clock, or new times of the sun. Occurrences between the last evaluation on the
    /// old clock and now are late. An evaluated occurrence is evaluated again only if the clock was set back by more
    /// than ``RuleEngine/longestSetBack``.
    ///
    /// - Parameter old: the previous local time; nil if it was unknown. `house` has the new one.
    mutating func clockChanged(from old: LocalTime?, now: Instant, _ house: HouseState) {
        if let old, let time = house.localTime, let judged = judgedUntil, old != time {
            judgedUntil = time.instant(with: old, at: judged) ?? judged
        }
        if let judged = judgedUntil, judged - now > RuleEngine.longestSetBack {
            judgedUntil = now
            for index in triggers.indices { triggers[index].judge(nil) }
        }
        let from = judgedUntil ?? now
        judgedUntil = from
        for index in triggers.indices {
            guard triggers[index].schedule.isWildcard else {
                findNext(index, after: from, house)
                continue
            }
            // At the first setting, a wildcard schedule continues after the last evaluation. At a later setting, it
            // continues at the present time of the new clock, and an occurrence that is already due is still evaluated.
            let due = triggers[index].next.map { $0.instant - .nanoseconds(1) }
            findNext(index, after: min(old == nil ? from : due ?? now, now), house)
        }
        findDeadline()
    }

    /// Evaluates each due occurrence once. If several occurrences of a trigger are older than the rule accepts, only
    /// the first is reported.
    mutating func endSchedules(
        now: Instant, _ house: inout HouseState, _ executor: inout RuleExecutor,
        _ actions: inout [RuleEngineAction]
    ) {
        guard let due = deadline, due <= now else { return }
        let from = max(judgedUntil ?? now, now)
        var last: Int?
        // The occurrences for which the current rule was fired. Several triggers of a rule that are due at the same
        // time fire it once.
        var moments: Set<Instant> = []
        for index in triggers.indices {
            let place = triggers[index].place
            if place.rule != last { moments = [] }
            last = place.rule
            var isTold = false
            var count = 0
            while let next = triggers[index].next, next.instant <= now {
                let maximumAge = executor.rules[place.rule].rule.maximumAge
                let age = now - next.instant
                triggers[index].judge(next.number)
                count += 1
                let isLate = age > maximumAge
                if (!isLate || !isTold) && moments.insert(next.instant).inserted {
                    isTold = isLate
                    var cause = Firing.Cause(executor.rules.source(of: place))
                    if age >= .seconds(1) { cause.age = age }
                    let key = triggers[index].seed.key(UInt64(bitPattern: next.number))
                    executor.fire(place.rule, cause, key, age: age, now: now, &house, &actions)
                }
                // Skips in one step all occurrences that are too old for the rule.
                let oldest = now - maximumAge - .nanoseconds(1)
                let after = count < Self.maximumLate ? max(next.instant, isLate ? oldest : next.instant) : now
                findNext(index, after: after, house)
            }
        }
        judgedUntil = from
        findDeadline()
    }
}
