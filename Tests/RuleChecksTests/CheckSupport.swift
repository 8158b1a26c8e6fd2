import PlugModel
import RuleChecks
import RuleModel

/// Returns the findings as `SEVERITY RULE PART: MESSAGE`, where RULE is the index of the rule. If `house` is nil, names
/// of plugs are not checked.
func found(_ rules: Rule..., in house: [KnownPlug]? = nil, knowsSun: Bool = true) -> [String] {
    RuleCheck.findings(rules, in: house, knowsSun: knowsSun).map(\.line)
}

func found(_ rules: [Rule], in house: [KnownPlug]? = nil) -> [String] {
    RuleCheck.findings(rules, in: house, knowsSun: true).map(\.line)
}

extension RuleFinding {
    var line: String { "\(severity) \(rule) \(part.word): \(message)" }
}

extension RulePart {
    fileprivate var word: String {
        switch self {
        case .name: "name"
        case .trigger(let index): "when \(index)"
        case .condition(let index): "if \(index)"
        case .action(let index): "then \(index)"
        case .key(let key): key
        }
    }
}

extension Rule {
    /// A rule that fires on a button press unless other triggers are given.
    static func checked(
        _ name: String = "A", when triggers: Trigger..., if conditions: [Condition] = [], then actions: RuleAction...
    ) -> Rule {
        Rule(
            name: name, triggers: triggers.isEmpty ? [.button(plug: "Hall", .single)] : triggers,
            conditions: conditions,
            actions: actions.isEmpty ? [.notify(title: nil, text: "!")] : actions)
    }
}

extension Condition {
    static func time(_ after: String, _ before: String) -> Condition {
        .time(DailyWindow(after: clock(after), before: clock(before)))
    }
}

func clock(_ text: String) -> TimeOfDay {
    let parts = text.split(separator: ":").compactMap { Int($0) }
    return TimeOfDay(second: parts[0] * 3600 + parts[1] * 60 + (parts.count > 2 ? parts[2] : 0))!
}

extension Trigger {
    static func rises(_ plug: String, _ watts: Double, for dwell: Duration = .zero, hysteresis: Double? = nil)
        -> Trigger
    {
        .activePower(
            plug: plug, PowerThreshold(.risesAbove, watts: watts, dwell: dwell, hysteresis: hysteresis))
    }

    static func falls(_ plug: String, _ watts: Double, for dwell: Duration = .zero, hysteresis: Double? = nil)
        -> Trigger
    {
        .activePower(
            plug: plug, PowerThreshold(.fallsBelow, watts: watts, dwell: dwell, hysteresis: hysteresis))
    }
}
