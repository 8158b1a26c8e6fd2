public import Automation
public import PowerHistory

/// A house as its history has it, for rules to run on.
public struct PastHouse: Sendable {
    let history: PowerHistory
    let rules: [Rule]

    public init(_ history: PowerHistory, rules: [Rule]) {
        self.history = history
        self.rules = rules
    }
}
