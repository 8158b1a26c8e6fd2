public import RuleModel

extension RuleInspection {
    /// Finds schedules that are never due, and uses of the sun without a known location.
    func schedules(_ index: Int) -> [RuleFinding] {
        let rule = rules[index]
        var findings: [RuleFinding] = []
        for (place, trigger) in rule.triggers.enumerated() {
            guard case .schedule(let schedule) = trigger else { continue }
            switch schedule {
            case .daily(_, let days), .sun(_, _, let days):
                if days.isEmpty { findings.append(neverDue(index, .trigger(place), "the list of weekdays is empty")) }
            case .cron(let cron):
                if !cron.comes {
                    findings.append(
                        neverDue(index, .trigger(place), "\"\(cron.text)\" never occurs: the month has no such day"))
                }
            }
            if case .sun = schedule, !knowsSun { findings.append(sunless(index, .trigger(place))) }
        }
        for (part, condition) in rule.placedConditions where !knowsSun && condition.leaves.contains(where: \.goesBySun)
        {
            findings.append(sunless(index, part))
        }
        return findings
    }

    private func neverDue(_ index: Int, _ part: RulePart, _ message: String) -> RuleFinding {
        RuleFinding(.error, rule: index, part, message, hint: "choose a date that occurs")
    }

    private func sunless(_ index: Int, _ part: RulePart) -> RuleFinding {
        RuleFinding(
            .error, rule: index, part, "it uses sunrise or sunset, but the location of the house is not set",
            hint: """
                use --location 52.52,13.40, or write to ~/.config/smartplug/location.toml: [location], latitude = 52.52, \
                longitude = 13.40
                """)
    }
}

extension CronSchedule {
    static let everyDay: UInt32 = 0xFFFF_FFFE

    /// The lengths of the months from January, with the longest February.
    private static let monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

    /// True if the schedule matches at least one minute of some year.
    var comes: Bool {
        guard minutes != 0, hours != 0 else { return false }
        let months = Self.monthLengths.indices.filter { self.months >> ($0 + 1) & 1 == 1 }
        if months.isEmpty { return false }
        if eitherDay, !weekdays.isEmpty { return true }
        if !eitherDay, weekdays.isEmpty { return false }
        return months.contains { month in
            (1...Self.monthLengths[month]).contains { days >> UInt32($0) & 1 == 1 }
        }
    }
}

extension Rule {
    /// True if a trigger or condition depends on the sun, so that the rule needs the location of the house.
    public var goesBySun: Bool {
        triggers.contains { if case .schedule(.sun) = $0 { true } else { false } }
            || placedConditions.contains { $0.condition.leaves.contains(where: \.goesBySun) }
    }
}

extension Condition {
    /// True if this leaf is a time window with a sun event.
    var goesBySun: Bool {
        guard case .time(let window) = self else { return false }
        return window.clock == nil
    }
}
