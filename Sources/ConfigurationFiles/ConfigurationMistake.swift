/// One thing that is wrong with a configuration file.
public struct ConfigurationMistake: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        /// It is no TOML, in the parser's words.
        case syntax(String)
        /// The file is no text in UTF-8, for the reason that is given.
        case encoding(String)
        /// There is no such table.
        case unknownTable(nearest: String?, known: [String])
        /// There is no such key in any table.
        case unknownKey(nearest: String?, known: [String])
        /// A key of other tables than the one in which it stands.
        case otherTable([String])
        /// A key that stands before the first table. `of`: those that have such a key.
        case outsideTable(of: [String])
        case wrongType(expected: String, found: String)
        /// `allowed` names both ends and the unit.
        case outOfRange(found: String, allowed: String)
        case notOneOf(found: String, allowed: [String], nearest: String?)
        /// It must be there. `what` says what it is for.
        case missing(String)
        /// It means nothing here, for the reason that is given.
        case needless(String)
        /// It cannot be meant beside another key, for the reason that is given.
        case contradiction(String)
        /// It cannot be used, for the reason that is given.
        case invalid(String)
        /// Two keys take the same thing, of which there is one: `what` says which.
        case usedTwice(what: String, other: String)
    }

    public var problem: Problem
    public var table: String?
    public var key: String?
    /// Counted from 1; nil where it cannot be found in the text.
    public var line: Int?
    /// Counted from 1; known of syntax alone.
    public var column: Int?

    package init(_ problem: Problem, table: String? = nil, key: String? = nil, line: Int? = nil, column: Int? = nil) {
        self.problem = problem
        self.table = table
        self.key = key
        self.line = line
        self.column = column
    }

    /// Without its place.
    public var description: String {
        let subject = [table.map { "[\($0)]" }, key].compactMap(\.self).joined(separator: " ")
        return subject.isEmpty ? what : "\(subject): \(what)"
    }

    private var what: String {
        switch problem {
        case .syntax(let reason), .encoding(let reason): reason
        case .unknownTable(let nearest, let known):
            "there is no such table; "
                + (nearest.map { "is [\($0)] meant?" } ?? "there are \(Self.list(known.map { "[\($0)]" }, "and"))")
        case .unknownKey(let nearest, let known):
            "there is no such key; "
                + (nearest.map { "is \($0) meant?" } ?? "this table has \(Self.list(known, "and"))")
        case .otherTable(let tables):
            "it is a key of \(Self.tables(tables)); is the # before that table's own line still there?"
        case .outsideTable(let tables):
            tables.isEmpty
                ? "it stands before the first table; put it under its [table]"
                : "it stands before the first table and is a key of \(Self.tables(tables)); "
                    + "is the # before that table's own line still there?"
        case .wrongType(let expected, let found): "it takes \(expected), not \(found)"
        case .outOfRange(let found, let allowed): "\(found) is out of range; it takes \(allowed)"
        case .notOneOf(let found, let allowed, let nearest):
            "it is \(Self.list(allowed.map { "\"\($0)\"" }, "or")), not \"\(found)\""
                + (nearest.map { "; is \"\($0)\" meant?" } ?? "")
        case .missing(let what): "missing: \(what)"
        case .needless(let reason), .contradiction(let reason), .invalid(let reason): reason
        case .usedTwice(let what, let other): "the same \(what) is used by \(other); each needs one of its own"
        }
    }

    private static func tables(_ names: [String]) -> String { list(names.map { "[\($0)]" }, "or") }

    /// "a, b or c".
    private static func list(_ words: [String], _ last: String) -> String {
        words.count < 2
            ? words.joined() : words.dropLast().joined(separator: ", ") + " \(last) " + (words.last ?? "")
    }
}

/// Everything that is wrong with a configuration file, in the order of its lines.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let file: String
    public let mistakes: [ConfigurationMistake]

    package init(file: String, mistakes: [ConfigurationMistake]) {
        self.file = file
        self.mistakes = mistakes.sorted {
            ($0.line ?? 0, $0.column ?? 0, $0.description) < ($1.line ?? 0, $1.column ?? 0, $1.description)
        }
    }

    /// A line for each, as compilers write them: FILE:LINE:COLUMN: what is wrong.
    public var description: String {
        mistakes.map { mistake in
            ([file] + [mistake.line, mistake.column].compactMap { $0.map { "\($0)" } }).joined(separator: ":")
                + ": \(mistake)"
        }.joined(separator: "\n")
    }
}
