/// A part of a rule, so that what is said of it can point at its place in the file.
public enum RulePart: Hashable, Sendable {
    case name
    case trigger(Int)
    case condition(Int)
    case action(Int)
    /// One of the keys beside them, such as `cooldown`.
    case key(String)
}

/// What a look at rules found, beyond what is wrong with their text.
public struct RuleFinding: Hashable, Sendable {
    public enum Severity: Hashable, Sendable {
        /// The rule cannot do what it says.
        case error
        /// It probably does not do what its writer wants.
        case warning
    }

    public var severity: Severity
    /// The index of the rule among those that were looked at.
    public var rule: Int
    public var part: RulePart
    /// The name within the part that it is about; nil: the whole part.
    public var word: String?
    /// What is wrong, without a full stop.
    public var message: String
    /// What to try next.
    public var hint: String?

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
