/// A part of a rule, for the position of a finding in the file.
public enum RulePart: Hashable, Sendable {
    /// The rule's name, for findings about the whole rule.
    case name
    /// The trigger at this place.
    case trigger(Int)
    /// The condition at this place.
    case condition(Int)
    /// The action at this place.
    case action(Int)
    /// Another key of the rule, such as `cooldown`.
    case key(String)
}

/// A finding about a syntactically valid rule.
public struct RuleFinding: Hashable, Sendable {
    /// The severity of a finding.
    public enum Severity: Hashable, Sendable {
        /// The rule cannot do what it states.
        case error
        /// The rule probably does not do what its author intends.
        case warning
    }

    /// The severity of the finding.
    public var severity: Severity
    /// The index of the rule among the checked rules.
    public var rule: Int
    /// The part of the rule with the fault.
    public var part: RulePart
    /// The name within the part that the finding is about; nil for the whole part.
    public var word: String?
    /// The fault, without a full stop.
    public var message: String
    /// A suggestion how to correct the rule; nil for no suggestion.
    public var hint: String?

    /// Creates a finding.
    public init(
        _ severity: Severity, rule: Int, _ part: RulePart, word: String? = nil, _ message: String, hint: String? = nil
    ) {
        self.severity = severity
        self.rule = rule
        self.part = part
        self.word = word
        self.message = message
        self.hint = hint
    }
}
