import RuleModel

extension RuleInspection {
    /// Finds conditions that always hold, and conditions that can never hold: a single condition, all conditions
    /// together, or the conditions at the time of a trigger.
    func contradictions(_ index: Int) -> [RuleFinding] {
        let conditions = rules[index].conditions
        var findings: [RuleFinding] = []
        for (place, condition) in conditions.enumerated() {
            if isImpossible([condition]) {
                findings.append(
                    RuleFinding(
                        .error, rule: index, .condition(place), "this can never hold: \(condition)",
                        hint: "the rule never fires; did you mean 'any' instead of 'all'?"))
            } else if isCertain(condition) {
                findings.append(alwaysHolds(index, .condition(place), condition))
            }
        }
        // An impossible condition is also impossible together with others, so the conditions are not checked together.
        if findings.contains(where: { $0.severity == .error }) { return findings }
        if let together = exclusion(index) { return findings + [together] }
        return findings + triggerExclusions(index)
    }

    /// Returns true if no state of the house satisfies the conditions and the facts.
    func isImpossible(_ conditions: [Condition], _ facts: [HypotheticalState.Fact] = []) -> Bool {
        var suppositions = Assumptions(self)
        suppositions.suppose(facts)
        suppositions.suppose(conditions)
        return suppositions.areImpossible
    }

    /// Returns true if the condition always holds while its plugs are present.
    func isCertain(_ condition: Condition) -> Bool {
        var suppositions = Assumptions(self)
        suppositions.deny(condition, alsoAway: false)
        return suppositions.areImpossible
    }

    func alwaysHolds(_ index: Int, _ part: RulePart, _ condition: Condition) -> RuleFinding {
        let plugs = condition.plugs.unique
        return RuleFinding(
            .warning, rule: index, part,
            "this always holds" + (plugs.isEmpty ? "" : " while \(plugs.joined(separator: " and ")) can be reached")
                + ": \(condition)",
            hint: "delete it, or write what it should exclude")
    }

    /// Returns a finding if each condition can hold, but not all at the same time; otherwise nil.
    private func exclusion(_ index: Int) -> RuleFinding? {
        let conditions = rules[index].conditions
        guard isImpossible(conditions),
            let last = conditions.indices.first(where: { isImpossible(Array(conditions[...$0])) })
        else { return nil }
        let other = conditions[..<last].first { isImpossible([$0, conditions[last]]) }
        let others = other.map { "\"\($0)\"" } ?? "the previous conditions"
        return RuleFinding(
            .error, rule: index, .condition(last), "\(conditions[last]) and \(others) exclude each other",
            hint: "all conditions must hold for the rule to fire; if one is enough, put them into 'any'")
    }

    private func triggerExclusions(_ index: Int) -> [RuleFinding] {
        let rule = rules[index]
        if rule.conditions.isEmpty { return [] }
        return rule.triggers.enumerated().compactMap { place, trigger in
            let facts = self.facts(trigger, of: rule)
            guard isImpossible(rule.conditions, facts) else { return nil }
            let culprit = rule.conditions.first { isImpossible([$0], facts) }
            let words = culprit.map { "\"\($0)\" does not hold" } ?? "the conditions do not hold"
            return RuleFinding(
                .error, rule: index, .trigger(place), "this trigger can never fire the rule: when \(trigger), \(words)",
                hint: "conditions are evaluated when the trigger occurs; change one of the two")
        }
    }

    /// Returns the facts that hold when a trigger fires its rule.
    func facts(_ trigger: Trigger, of rule: Rule) -> [HypotheticalState.Fact] {
        let key = trigger.plug.map(house.key) ?? ""
        switch trigger {
        case .activePower(_, let threshold):
            let span =
                switch threshold.direction {
                case .risesAbove: HypotheticalState.Span(low: threshold.watts, lowIncluded: false)
                case .fallsBelow: HypotheticalState.Span(high: threshold.watts, highIncluded: false)
                }
            // An impossible threshold is reported separately.
            guard abs(threshold.watts) < Self.rating else { return [] }
            return [.measure(.activePower(key), span), .present(key, true)]
        case .activePowerStays(_, let band):
            guard band.low <= band.high, band.low <= Self.rating else { return [] }
            return [
                .measure(.activePower(key), HypotheticalState.Span(low: band.low, high: band.high)),
                .present(key, true),
            ]
        case .relay(_, let on?):
            // A rule that accepts old events may fire after the relay has switched again.
            guard rule.maximumAge <= Rule.usualMaximumAge else { return [.present(key, true)] }
            return [.relay(key, on: on), .present(key, true)]
        case .activeEnergy, .button, .relay(_, nil), .back, .protection: return [.present(key, true)]
        case .lost: return [.present(key, false)]
        case .schedule(.daily(let time, let days)):
            let second = time == .endOfDay ? 0 : time.second
            let due = time == .endOfDay ? days.nextDays : days
            return due.isEmpty ? [] : [.time(WeekTimes(due, from: second, to: second + 1))]
        case .schedule(.sun(let event, let offset, let days)):
            // An offset outside of these ranges may move the trigger to the previous or next day.
            let isByDay =
                switch event {
                case .sunrise: offset >= .zero && offset < .seconds(4 * 3600)
                case .sunset: offset <= .zero && offset > .seconds(-4 * 3600)
                }
            return isByDay && !days.isEmpty ? [.time(WeekTimes(days))] : []
        case .schedule(.cron(let cron)): return cron.comes ? [.time(work.times(of: cron))] : []
        case .appliance, .rule, .timer: return []
        }
    }
}
