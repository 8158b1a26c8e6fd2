import RuleChecks
import RuleModel

/// The actions that leave the house: programs, web hooks and calls of scripts. The editor may keep and remove them, but
/// not add or change them, because they run with the rights of the daemon's user.
struct OutsideActions {
    /// The number of each action in the file as it is now.
    private var present: [RuleAction: Int] = [:]

    init(_ rules: [Rule]) {
        for action in rules.lazy.flatMap(\.actions) where action.leavesHouse { present[action, default: 0] += 1 }
    }

    /// Returns an error for each action that leaves the house and is not in the present file, or more often.
    ///
    /// - Parameter first: the index of the first of these rules among all checked rules.
    func findings(_ rules: [Rule], first: Int) -> [RuleFinding] {
        var left = present
        return rules.enumerated().flatMap { index, rule in
            rule.actions.enumerated().compactMap { place, action -> RuleFinding? in
                guard action.leavesHouse else { return nil }
                if let count = left[action], count > 0 {
                    left[action] = count - 1
                    return nil
                }
                return RuleFinding(
                    .error, rule: first + index, .action(place),
                    "the dashboard may not add or change an action that runs a program or calls a URL or a script",
                    hint: "edit the file on the daemon's machine; here such actions may only stay as they are")
            }
        }
    }
}

extension RuleAction {
    fileprivate var leavesHouse: Bool {
        switch self {
        case .run, .webHook, .call: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .wait, .waitUntil, .notify, .wake: false
        }
    }
}
