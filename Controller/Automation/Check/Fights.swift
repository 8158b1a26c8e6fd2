extension RuleInspection {
    /// Pairs of rules that are compared. A thousand rules on one button would be half a million.
    private static let pairLimit = 20_000

    /// Two rules that are set off in one moment and want opposite things of one plug.
    func fights() -> [RuleFinding] {
        var findings: [RuleFinding] = []
        var pairs = 0
        let orders = rules.map(immediateOrders)
        // Only rules that command the same plug can fight.
        var byPlug: [String: [Int]] = [:]
        for (index, order) in orders.enumerated() { for key in order.keys { byPlug[key, default: []].append(index) } }
        var seen: Set<[Int]> = []
        for key in byPlug.keys.sorted() {
            let indices = byPlug[key] ?? []
            for (offset, first) in indices.enumerated() {
                for second in indices.dropFirst(offset + 1) {
                    pairs += 1
                    guard pairs <= Self.pairLimit, findings.count < RuleCheck.findingLimit else { return findings }
                    guard let mine = orders[first][key], let its = orders[second][key],
                        areOpposite(rules[first].actions[mine.place], rules[second].actions[its.place]),
                        let met = commonTrigger(rules[first], rules[second]), seen.insert([first, second]).inserted
                    else { continue }
                    findings += [
                        fight(first, mine, with: second, its, met.first),
                        fight(second, its, with: first, mine, met.second),
                    ]
                }
            }
        }
        return findings
    }

    private typealias Order = (place: Int, plug: String)

    /// The last command to each plug in the moment of the firing, by key.
    private func immediateOrders(_ rule: Rule) -> [String: Order] {
        var orders: [String: Order] = [:]
        for (place, action) in rule.actions.enumerated() {
            if action.takesTime { break }
            for plug in action.plugs { orders[house.key(plug)] = (place, plug) }
        }
        return orders
    }

    private func areOpposite(_ first: RuleAction, _ second: RuleAction) -> Bool {
        if case .toggle = first, case .toggle = second { return true }
        if case .dim(_, let level, _) = first, case .dim(_, let other, _) = second { return level != other }
        if let on = first.relayAfter, let other = second.relayAfter { return on != other }
        return false
    }

    private func fight(
        _ rule: Int, _ order: Order, with other: Int, _ its: Order, _ trigger: Trigger
    ) -> RuleFinding {
        RuleFinding(
            .warning, rule: rule, .action(order.place), word: order.plug,
            """
            it fights with \"\(rules[other].name)\", which does this in the same moment: \
            \(rules[other].actions[its.place]) (when \(trigger))
            """,
            hint: "give them conditions that exclude each other, or make one rule of both")
    }

    /// Triggers that one event meets, where the conditions of both can hold then.
    private func commonTrigger(_ first: Rule, _ second: Rule) -> (first: Trigger, second: Trigger)? {
        for mine in first.triggers {
            for its in second.triggers where coincide(mine, its) {
                let facts = facts(mine, of: first) + facts(its, of: second)
                if !isImpossible(first.conditions + second.conditions, facts) { return (mine, its) }
            }
        }
        return nil
    }

    /// Whether one event can set off both.
    private func coincide(_ first: Trigger, _ second: Trigger) -> Bool {
        if let mine = first.plug, let its = second.plug, house.key(mine) != house.key(its) { return false }
        switch (first, second) {
        case (.activePower(_, let mine), .activePower(_, let its)):
            // A leap passes both thresholds at once.
            return mine.direction == its.direction && mine.dwell == its.dwell
        case (.activePowerStays(_, let mine), .activePowerStays(_, let its)):
            return mine.dwell == its.dwell && mine.low <= its.high && its.low <= mine.high
        case (.activeEnergy(_, let mine), .activeEnergy(_, let its)): return mine == its
        case (.button(_, let mine), .button(_, let its)): return mine == its
        case (.relay(_, let mine), .relay(_, let its)): return mine == nil || its == nil || mine == its
        case (.lost(_, let mine), .lost(_, let its)), (.back(_, let mine), .back(_, let its)): return mine == its
        case (.protection(_, let mine), .protection(_, let its)): return mine == nil || its == nil || mine == its
        case (.appliance(_, let mine), .appliance(_, let its)): return mine == its
        case (.rule(let mine), .rule(let its)): return mine == its
        case (.schedule(let mine), .schedule(let its)): return coincide(mine, its)
        case _: return false
        }
    }

    private func coincide(_ first: Schedule, _ second: Schedule) -> Bool {
        switch (first, second) {
        case (.sun(let mine, let offset, let days), .sun(let its, let other, let otherDays)):
            return mine == its && offset == other && !days.isDisjoint(with: otherDays)
        case (.cron(let mine), .cron(let its)):
            guard mine.hasEitherDay || its.hasEitherDay || mine.days & its.days & CronSchedule.everyDay != 0,
                mine.months & its.months != 0
            else { return false }
            return !WeekTimes(mine).intersection(WeekTimes(its)).isEmpty
        case (.daily(let time, let days), .daily(let other, let otherDays)):
            return time == other && !days.isDisjoint(with: otherDays)
        case (.daily(let time, let days), .cron(let cron)), (.cron(let cron), .daily(let time, let days)):
            let due = WeekTimes(days, from: time.second, to: time.second + 1)
            return !due.intersection(WeekTimes(cron)).isEmpty
        case (.sun, .daily), (.sun, .cron), (.daily, .sun), (.cron, .sun): return false
        }
    }
}
