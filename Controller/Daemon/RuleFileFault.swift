/// The reason why the current content of a rule file is not active.
public struct RuleFileFault: Hashable, Sendable {
    /// The file's path.
    public var path: String
    /// The message for the user, which may have several lines.
    public var words: String
    /// The rules whose last valid version stays active; empty if none is active.
    public var rules: [String]

    /// Creates a fault from its parts.
    public init(path: String, words: String, rules: [String]) {
        self.path = path
        self.words = words
        self.rules = rules
    }
}
