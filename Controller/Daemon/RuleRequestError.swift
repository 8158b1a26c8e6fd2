public import Automation

/// The reasons why a user's request to run a rule, or to turn it on or off, failed.
public enum RuleRequestError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No active rule has the name. `known` contains the names of the active rules.
    case unknown(rule: String, known: [String])
    /// The user ran the rule manually, and its actions did not begin.
    case heldBack(rule: String, HoldBack)
    /// The rule was turned on or off, but the change could not be stored. It applies until the process ends.
    case notStored(rule: String, isOn: Bool, reason: String)

    /// The message for the user, without the hint.
    public var description: String {
        switch self {
        case .unknown(let rule, _): "no rule is named \"\(rule)\""
        case .heldBack(let rule, let reason): "\"\(rule)\" did not fire: \(reason)"
        case .notStored(let rule, let isOn, let reason):
            "\"\(rule)\" is turned \(isOn ? "on" : "off"), but the change cannot be stored: \(reason)"
        }
    }

    /// The hint for the user.
    public var hint: String {
        switch self {
        case .unknown(let rule, let known):
            if let near = known.first(where: { $0.lowercased() == rule.lowercased() }) {
                "did you mean \"\(near)\"?"
            } else {
                known.isEmpty ? "no rules are running" : "`plugctl rules state` lists the rules"
            }
        case .heldBack(_, .running): "wait until its actions have ended, or set `mode: restart` in the rule"
        case .heldBack(let rule, .condition), .heldBack(let rule, .cooldown), .heldBack(let rule, .old),
            .heldBack(let rule, .limit), .heldBack(let rule, .disabled):
            "see `plugctl rules explain \"\(rule)\"`"
        case .notStored: "until it can be stored, a restart of the daemon undoes the change"
        }
    }
}
