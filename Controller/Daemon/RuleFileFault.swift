/// Why what a rule file says now does not run.
public struct RuleFileFault: Hashable, Sendable {
    public var path: String
    /// For a person, over several lines.
    public var words: String
    /// The rules whose last good version goes on; none where there never was one.
    public var rules: [String]

    public init(path: String, words: String, rules: [String]) {
        self.path = path
        self.words = words
        self.rules = rules
    }
}
