extension RuleInspection {
    /// Finds actions that `away: remember` cannot store for an absent plug, because their command depends on the plug's
    /// state.
    func awayCommands(_ index: Int) -> [RuleFinding] {
        guard rules[index].remembersAway != nil else { return [] }
        return rules[index].actions.enumerated().compactMap { place, action in
            let instead: String
            switch action {
            case .toggle: instead = "'turn on' or 'turn off'"
            case .dimBy: instead = "'dim' with 'to'"
            case .turnOn, .turnOff, .dim, .restore, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: return nil
            }
            return RuleFinding(
                .error, rule: index, .action(place),
                "'away: remember' cannot store this action for an absent plug because it depends on the plug's state: \(action)",
                hint: "use \(instead), or delete 'away'")
        }
    }
}
