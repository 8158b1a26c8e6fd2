import HouseCalendar
import ProtocolCore
import RuleModel

extension RuleInspection {
    /// Finds triggers and conditions that depend on the sun, if there are days in the next year without sunrise or
    /// sunset.
    func sunlessDays(_ index: Int) -> [RuleFinding] {
        var findings: [RuleFinding] = []
        for (place, trigger) in rules[index].triggers.enumerated() {
            guard case .schedule(.sun(let event, _, let days)) = trigger else { continue }
            let missing = sun.days.filter { $0.instant(of: event) == nil && days.contains(Weekdays(day: $0.day)) }
            guard let words = Self.words(missing) else { continue }
            let verb = event == .sunrise ? "rise" : "set"
            findings.append(
                RuleFinding(
                    .warning, rule: index, .trigger(place),
                    "the sun does not \(verb) here on \(words); the rule does not fire then",
                    hint: "add a trigger with a time of day"))
        }
        for (part, condition) in rules[index].placedConditions where condition.leaves.contains(where: \.goesBySun) {
            let missing = sun.days.filter { $0.sunrise == nil || $0.sunset == nil }
            let dark = Self.words(missing.filter(\.isDark)).map {
                "does not rise here on \($0) (dark all day)"
            }
            let light = Self.words(missing.filter { !$0.isDark }).map {
                "does not set here on \($0) (light all day)"
            }
            let sentences = [dark, light].compactMap(\.self)
            guard !sentences.isEmpty else { continue }
            findings.append(
                RuleFinding(
                    .warning, rule: index, part, "the sun " + sentences.joined(separator: ", and "),
                    hint: "to change the behaviour on these days, add a time of day in 'any' or 'all'"))
        }
        return findings
    }

    /// Returns the date of a single day, or the number of days and the first date; nil for an empty list.
    private static func words(_ days: [SunTimes.Day]) -> String? {
        guard let first = days.first else { return nil }
        let date = CivilTime(localSeconds: Double(first.day) * 86_400).date
        return days.count == 1 ? date : "\(days.count) days of the next year, first on \(date)"
    }
}

extension SunTimes.Day {
    /// For a day without sunrise or sunset: true if the sun stays below the horizon.
    fileprivate var isDark: Bool { lightFrom == lightUntil }
}
