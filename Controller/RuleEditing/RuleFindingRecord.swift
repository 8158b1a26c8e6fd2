public import RuleFiles

/// A finding about a rule file: an object of `plugctl rules check --json` and of the HTTP API.
public struct RuleFindingRecord: Codable, Hashable, Sendable {
    /// The path or the name of the file.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// The column in Unicode scalars, from 1.
    public var column: Int
    /// error or warning.
    public var severity: String
    /// The finding, without a full stop.
    public var message: String
    /// A suggestion what to change.
    public var hint: String?
    /// The rule's name, if the file could be parsed.
    public var rule: String?

    /// Creates a record.
    ///
    /// - Parameter rule: the name of the rule that contains the place; nil if it is unknown.
    public init(_ diagnostic: Diagnostic, rule: String? = nil) {
        file = diagnostic.file
        line = diagnostic.place.line
        column = diagnostic.place.column
        severity = diagnostic.severity.rawValue
        message = diagnostic.message
        hint = diagnostic.hint
        self.rule = rule
    }

    /// True for an error.
    public var isError: Bool { severity == Diagnostic.Severity.error.rawValue }
}
