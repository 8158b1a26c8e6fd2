import PlugModel
import RuleModel

extension RuleInspection {
    /// Finds uses of capabilities that a plug lacks, if its capabilities are known.
    func capabilities(_ index: Int) -> [RuleFinding] {
        let rule = rules[index]
        var findings: [RuleFinding] = []
        func need(_ capability: Capability, _ part: RulePart, _ plug: String) {
            guard let known = house.plug(plug)?.capabilities, !known.contains(capability) else { return }
            let finding = RuleFinding(
                .error, rule: index, part, word: plug, "\(plug) has no \(capability.rawValue)", hint: capability.hint)
            if !findings.contains(finding) { findings.append(finding) }
        }
        for (place, trigger) in rule.triggers.enumerated() {
            guard let plug = trigger.plug, let capability = trigger.capability else { continue }
            need(capability, .trigger(place), plug)
        }
        for (part, condition) in rule.placedConditions {
            for leaf in condition.leaves {
                guard let capability = leaf.capability else { continue }
                leaf.plugs.forEach { need(capability, part, $0) }
            }
        }
        for (place, action) in rule.actions.enumerated() {
            guard let capability = action.capability else { continue }
            action.plugs.forEach { need(capability, .action(place), $0) }
        }
        return findings
    }
}

extension Capability {
    fileprivate var hint: String? {
        switch self {
        case .dimmer: "it can only be turned on and off; `plugctl info` shows the capabilities of a plug"
        case .meter: "use a plug with a meter, or the relay as the trigger"
        case .button: "use another plug's button"
        case .relay, .log, .audit, .rename, .settings, .matter, .update, .wifi:
            "`plugctl info` shows the capabilities of a plug"
        }
    }
}

extension Trigger {
    fileprivate var capability: Capability? {
        switch self {
        case .activePower, .activePowerStays, .activeEnergy, .appliance: .meter
        case .button: .button
        case .relay: .relay
        case .lost, .back, .protection, .schedule, .rule, .timer: nil
        }
    }
}

extension Condition {
    fileprivate var capability: Capability? {
        switch self {
        case .relay: .relay
        case .level: .dimmer
        case .activePower: .meter
        case .time, .weekdays, .present, .all, .any, .not: nil
        }
    }
}

extension RuleAction {
    fileprivate var capability: Capability? {
        switch self {
        case .turnOn, .turnOff, .toggle: .relay
        case .dim, .dimBy: .dimmer
        case .restore, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: nil
        }
    }
}
