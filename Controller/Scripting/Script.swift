public import RuleModel

/// A script that has been read.
public struct Script: Hashable, Sendable {
    /// The name of the file, without folders.
    public var name: String
    /// The text of the script.
    public var source: String
    /// One rule per function of the script; its only action calls the function.
    public var rules: [Rule]
    /// The line of the `on` of each rule, from 1.
    public var lines: [Int]
    /// The lines that the script logged while it was loaded.
    public var log: [String]

    init(name: String, source: String, rules: [Rule], lines: [Int] = [], log: [String]) {
        self.name = name
        self.source = source
        self.rules = rules
        self.lines = lines
        self.log = log
    }
}
