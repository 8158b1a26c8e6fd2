import RuleModel

extension RuleInspection {
    /// Finds waits for a condition that never holds, or that always holds.
    func waits(_ index: Int) -> [RuleFinding] {
        rules[index].actions.enumerated().compactMap { place, action in
            guard case .waitUntil(let condition, let timeout, let end) = action else { return nil }
            if isImpossible([condition]) {
                let then =
                    switch end {
                    case .goOn: "the rule always waits \(timeout.words)"
                    case .stop: "the following actions never run"
                    }
                return RuleFinding(
                    .error, rule: index, .action(place), "this can never hold: \(condition); \(then)",
                    hint: "wait for something that changes, or write 'wait: \(timeout.words)'")
            }
            return isCertain(condition) ? alwaysHolds(index, .action(place), condition) : nil
        }
    }

    /// Finds commands without effect: a second command follows at once, or no rule makes a change that could be
    /// restored.
    func idleActions(_ index: Int) -> [RuleFinding] {
        let actions = rules[index].actions
        var findings: [RuleFinding] = []
        /// The last command to each plug since the last wait, program, web hook or script call.
        var last: [String: (place: Int, plug: String)] = [:]
        for (place, action) in actions.enumerated() {
            switch action {
            case .wait(let duration):
                if duration > .zero { last = [:] }
            case .waitUntil, .run, .webHook, .wake, .call: last = [:]
            case .notify: break
            case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore:
                for plug in action.plugs.unique {
                    let key = house.key(plug)
                    if let before = last[key], let message = idle(actions[before.place], action, plug) {
                        findings.append(
                            RuleFinding(
                                .warning, rule: index, .action(before.place), word: before.plug, message,
                                hint: "put 'wait: 5 s' between the two, or delete this one"))
                    }
                    last[key] = (place, plug)
                }
            }
            if case .restore(let plugs) = action, !asksScripts {
                for plug in plugs.unique where !changedKeys.contains(house.key(plug)) {
                    findings.append(
                        RuleFinding(
                            .warning, rule: index, .action(place), word: plug,
                            "no rule changes \(plug), so there is never anything to restore",
                            hint:
                                "restore plugs that another rule turns on, turns off or dims; check the files together")
                    )
                }
            }
        }
        return findings
    }

    /// Returns the message if the first command has no effect; nil if both commands have an effect.
    private func idle(_ first: RuleAction, _ second: RuleAction, _ plug: String) -> String? {
        switch (first, second) {
        case (.turnOn, .turnOff): "\(plug) is turned off right after it is turned on"
        case (.turnOff, .turnOn): "\(plug) is turned on right after it is turned off"
        case (.toggle, .toggle): "\(plug) is toggled twice, which changes nothing"
        case (.toggle, .turnOn), (.toggle, .turnOff): "\(plug) is switched again right after it is toggled"
        case (.dim(_, _, .zero), .dim): "\(plug) is dimmed again at once"
        case (.dim, .turnOff): "\(plug) is turned off right after it is dimmed"
        case _: nil
        }
    }

    /// Finds duplicates of triggers, conditions, actions and plugs.
    func repetitions(_ index: Int) -> [RuleFinding] {
        let rule = rules[index]
        var findings: [RuleFinding] = []
        func tell(_ part: RulePart, _ what: String, word: String? = nil) {
            findings.append(
                RuleFinding(.warning, rule: index, part, word: word, what, hint: "delete one of the two"))
        }
        for (place, trigger) in rule.triggers.enumerated() where rule.triggers[..<place].contains(trigger) {
            tell(.trigger(place), "duplicate trigger: \(trigger)")
        }
        for (place, condition) in rule.conditions.enumerated() where rule.conditions[..<place].contains(condition) {
            tell(.condition(place), "duplicate condition: \(condition)")
        }
        for (place, action) in rule.actions.enumerated() {
            if place > 0, rule.actions[place - 1] == action, !action.mayRepeat {
                tell(.action(place), "this is done twice in a row: \(action)")
            }
            var keys: Set<String> = []
            if let plug = action.plugs.first(where: { !keys.insert(house.key($0)).inserted }) {
                tell(.action(place), "\(plug) is listed twice", word: plug)
            }
        }
        return findings
    }
}

extension RuleAction {
    /// True if a repetition of the action has an effect, such as a longer wait, or if
    /// ``RuleInspection/idleActions(_:)`` reports the repetition.
    fileprivate var mayRepeat: Bool {
        switch self {
        case .wait, .dimBy, .toggle, .run, .call: true
        case .turnOn, .turnOff, .dim, .restore, .waitUntil, .notify, .webHook, .wake: false
        }
    }
}
