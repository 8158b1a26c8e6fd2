/// A mistake in a configuration file.
public struct ConfigurationMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a mistake, with the values for its description.
    public enum Problem: Hashable, Sendable {
        /// The text is not TOML. The associated value is the parser's explanation.
        case syntax(String)
        /// The file is not UTF-8, for this reason.
        case encoding(String)
        /// The table does not exist.
        case unknownTable(nearest: String?, known: [String])
        /// The key does not exist in any table.
        case unknownKey(nearest: String?, known: [String])
        /// The key belongs to these other tables.
        case otherTable([String])
        /// The key is before the first table. `of` lists the tables in which this key is valid.
        case outsideTable(of: [String])
        /// The value has the wrong type.
        case wrongType(expected: String, found: String)
        /// The value is out of range. `allowed` has both limits and the unit.
        case outOfRange(found: String, allowed: String)
        /// The value is not one of the allowed words.
        case notOneOf(found: String, allowed: [String], nearest: String?)
        /// A required key is missing. The associated value is its purpose.
        case missing(String)
        /// The key has no effect here, for this reason.
        case needless(String)
        /// The key contradicts another key, for this reason.
        case contradiction(String)
        /// The value cannot be used, for this reason.
        case invalid(String)
        /// Two keys use the same resource. `what` names it, and `other` is the other key.
        case usedTwice(what: String, other: String)
    }

    /// The kind of the mistake.
    public var problem: Problem
    /// The table, if the mistake is in one.
    public var table: String?
    /// The key, if the mistake concerns one.
    public var key: String?
    /// The line, counted from 1, or nil if it is unknown.
    public var line: Int?
    /// The column, counted from 1, or nil if it is unknown. Only syntax errors have a column.
    public var column: Int?

    /// Creates a mistake.
    package init(_ problem: Problem, table: String? = nil, key: String? = nil, line: Int? = nil, column: Int? = nil) {
        self.problem = problem
        self.table = table
        self.key = key
        self.line = line
        self.column = column
    }

    /// The mistake as text for a user, without its line and column.
    public var description: String {
        let subject = [table.map { "[\($0)]" }, key].compactMap(\.self).joined(separator: " ")
        return subject.isEmpty ? what : "\(subject): \(what)"
    }

    private var what: String {
        switch problem {
        case .syntax(let reason), .encoding(let reason): reason
        case .unknownTable(let nearest, let known):
            "unknown table; "
                + (nearest.map { "did you mean [\($0)]?" }
                    ?? "the tables are \(Self.list(known.map { "[\($0)]" }, "and"))")
        case .unknownKey(let nearest, let known):
            "unknown key; "
                + (nearest.map { "did you mean \($0)?" } ?? "the keys of this table are \(Self.list(known, "and"))")
        case .otherTable(let tables):
            "this is a key of \(Self.tables(tables)); check whether the line of that table still begins with #"
        case .outsideTable(let tables):
            tables.isEmpty
                ? "this key is before the first table; put it under its [table]"
                : "this key is before the first table but belongs to \(Self.tables(tables)); "
                    + "check whether the line of that table still begins with #"
        case .wrongType(let expected, let found): "expected \(expected), not \(found)"
        case .outOfRange(let found, let allowed): "\(found) is out of range; allowed: \(allowed)"
        case .notOneOf(let found, let allowed, let nearest):
            "expected \(Self.list(allowed.map { "\"\($0)\"" }, "or")), not \"\(found)\""
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")
        case .missing(let what): "missing: \(what)"
        case .needless(let reason), .contradiction(let reason), .invalid(let reason): reason
        case .usedTwice(let what, let other): "\(other) uses the same \(what); each needs its own"
        }
    }

    private static func tables(_ names: [String]) -> String { list(names.map { "[\($0)]" }, "or") }

    /// Joins words with commas and a last conjunction: "a, b or c".
    private static func list(_ words: [String], _ last: String) -> String {
        words.count < 2
            ? words.joined() : words.dropLast().joined(separator: ", ") + " \(last) " + (words.last ?? "")
    }
}

/// All mistakes in a configuration file, in the order of their lines.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file.
    public let file: String
    /// The mistakes, at least one, in the order of their lines.
    public let mistakes: [ConfigurationMistake]

    /// Creates an error from at least one mistake.
    package init(file: String, mistakes: [ConfigurationMistake]) {
        self.file = file
        self.mistakes = mistakes.sorted {
            ($0.line ?? 0, $0.column ?? 0, $0.description) < ($1.line ?? 0, $1.column ?? 0, $1.description)
        }
    }

    /// One line per mistake, in the format of compilers: FILE:LINE:COLUMN: mistake.
    public var description: String {
        mistakes.map { mistake in
            ([file] + [mistake.line, mistake.column].compactMap { $0.map { "\($0)" } }).joined(separator: ":")
                + ": \(mistake)"
        }.joined(separator: "\n")
    }
}
