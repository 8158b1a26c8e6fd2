import RuleModel

/// An event that fires a rule: an edge of the rule's own trigger, or of a trigger of another rule whose firing fires
/// this rule.
struct RuleMoment {
    /// The trigger of the rule.
    var own: Trigger
    /// The trigger of the original event. It differs from ``own`` if ``own`` is the firing of another rule.
    var origin: Trigger
    /// ``KnownHouse/key(_:)`` of the plug of the event; empty if the event has no plug.
    var key: String
    /// The conditions of the rule, and of the rules on the path to it.
    var conditions: [Condition]
    /// The rule with the original trigger.
    var rule: Int
}

extension RuleInspection {
    /// The maximum number of moments per rule. Stops rules that fire each other on many paths from filling the memory.
    private static let momentLimit = 128

    /// Returns the moments of each rule.
    func moments() -> [[RuleMoment]] {
        let byName = Dictionary(rules.indices.map { (rules[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        return rules.indices.map { index in
            var moments: [RuleMoment] = []
            for trigger in rules[index].triggers {
                collect(trigger, as: trigger, of: index, rules[index].conditions, [index], byName, &moments)
            }
            return moments
        }
    }

    private func collect(
        _ trigger: Trigger, as own: Trigger, of rule: Int, _ conditions: [Condition], _ passed: Set<Int>,
        _ byName: [String: Int], _ moments: inout [RuleMoment]
    ) {
        work.spend(10)
        guard moments.count < Self.momentLimit, !work.isSpent else { return }
        moments.append(
            RuleMoment(
                own: own, origin: trigger, key: trigger.plug.map(house.key) ?? "", conditions: conditions, rule: rule))
        guard case .rule(let name) = trigger, let other = byName[name], !passed.contains(other) else { return }
        for earlier in rules[other].triggers {
            collect(
                earlier, as: own, of: other, conditions + rules[other].conditions, passed.union([other]), byName,
                &moments)
        }
    }

    /// Returns one moment of each rule if both are the same event and the conditions of both rules can hold at that
    /// time; otherwise nil.
    func commonMoment(_ first: [RuleMoment], _ second: [RuleMoment]) -> (first: RuleMoment, second: RuleMoment)? {
        for mine in first {
            for its in second {
                work.spend(10)
                if work.isSpent { return nil }
                guard mine.key == its.key, coincide(mine.origin, its.origin), canMeet(mine, its) else { continue }
                return (mine, its)
            }
        }
        return nil
    }

    /// Returns true if the facts and the conditions of both moments can hold at the same time.
    func canMeet(_ first: RuleMoment, _ second: RuleMoment) -> Bool {
        let conditions = first.conditions + second.conditions
        // The caller has already compared the times of the schedules.
        if conditions.isEmpty, case .schedule = first.origin { return true }
        let facts = facts(first.origin, of: rules[first.rule]) + facts(second.origin, of: rules[second.rule])
        return !isImpossible(conditions, facts) && !work.isSpent
    }

    /// Returns true if one event of one plug can fire both triggers.
    private func coincide(_ first: Trigger, _ second: Trigger) -> Bool {
        switch (first, second) {
        case (.activePower(_, let mine), .activePower(_, let its)):
            // One jump of the power can cross both thresholds.
            return mine.direction == its.direction && mine.dwell == its.dwell
        case (.activePower(_, let threshold), .activePowerStays(_, let band)),
            (.activePowerStays(_, let band), .activePower(_, let threshold)):
            // A jump past the threshold may end in the band. ``canMeet(_:_:)`` checks that a power can satisfy both.
            return threshold.dwell == band.dwell
        case (.activePowerStays(_, let mine), .activePowerStays(_, let its)): return mine.dwell == its.dwell
        case (.activeEnergy(_, let mine), .activeEnergy(_, let its)): return mine == its
        case (.button(_, let mine), .button(_, let its)): return mine == its
        case (.relay(_, let mine), .relay(_, let its)): return mine == nil || its == nil || mine == its
        case (.lost(_, let mine), .lost(_, let its)), (.back(_, let mine), .back(_, let its)): return mine == its
        case (.protection(_, let mine), .protection(_, let its)): return mine == nil || its == nil || mine == its
        case (.appliance(_, let mine), .appliance(_, let its)): return mine == its
        case (.rule(let mine), .rule(let its)): return mine == its
        case (.timer(let mine), .timer(let its)): return mine == its
        case (.schedule(let mine), .schedule(let its)): return coincide(mine, its)
        case _: return false
        }
    }

    private func coincide(_ first: Schedule, _ second: Schedule) -> Bool {
        switch (first, second) {
        case (.sun(let mine, let offset, let days), .sun(let its, let other, let otherDays)):
            return mine == its && offset == other && !days.isDisjoint(with: otherDays)
        case (.cron(let mine), .cron(let its)): return mine.coincides(with: its)
        case (.daily(let time, let days), .daily(let other, let otherDays)):
            return time == other && !days.isDisjoint(with: otherDays)
        case (.daily(let time, let days), .cron(let cron)), (.cron(let cron), .daily(let time, let days)):
            return cron.coincides(with: time, on: days)
        case (.sun, .daily), (.sun, .cron), (.daily, .sun), (.cron, .sun): return false
        }
    }
}

extension CronSchedule {
    /// The weekdays on which the schedule can be due. If either day field may match, a day of the month can be any
    /// weekday.
    var certainWeekdays: Weekdays { eitherDay ? .all : weekdays }

    /// Returns true if the schedules share a minute. The minutes of a schedule are all combinations of the values in
    /// its sets, so two schedules share a minute if each pair of sets overlaps.
    fileprivate func coincides(with other: CronSchedule) -> Bool {
        (eitherDay || other.eitherDay || days & other.days & Self.everyDay != 0) && months & other.months != 0
            && minutes & other.minutes != 0 && hours & other.hours != 0
            && !certainWeekdays.isDisjoint(with: other.certainWeekdays)
    }

    func coincides(with time: TimeOfDay, on days: Weekdays) -> Bool {
        let isMidnight = time == .endOfDay
        let second = isMidnight ? 0 : time.second
        return second % 60 == 0 && minutes >> UInt64(second / 60 % 60) & 1 == 1
            && hours >> UInt32(second / 3600) & 1 == 1
            && !certainWeekdays.isDisjoint(with: isMidnight ? days.nextDays : days)
    }
}

extension Weekdays {
    /// The set in which each day is replaced by the following day.
    var nextDays: Weekdays { Weekdays(rawValue: (rawValue << 1 | rawValue >> 6) & Weekdays.all.rawValue) }
}
