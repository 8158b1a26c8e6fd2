public import Automation

/// What a script's file says.
public struct Script: Hashable, Sendable {
    /// The file's name, without folders.
    public var name: String
    public var source: String
    /// One for each of its functions, which their only action calls.
    public var rules: [Rule]
    /// Of each the line of its `on`, from 1.
    public var lines: [Int]
    /// What it logged while it was loaded.
    public var log: [String]

    init(name: String, source: String, rules: [Rule], lines: [Int] = [], log: [String]) {
        self.name = name
        self.source = source
        self.rules = rules
        self.lines = lines
        self.log = log
    }
}
