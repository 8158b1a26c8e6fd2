/// A place in a file as editors count it: both from 1, columns in Unicode scalars.
public struct Place: Hashable, Comparable, Sendable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// One thing that is wrong with a file: where, what, and what to do about it.
public struct Diagnostic: Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable {
        /// The file cannot be used so.
        case error
        /// It can, and probably does not do what its writer wants.
        case warning
    }

    public var file: String
    public var place: Place
    /// What is wrong, without a full stop.
    public var message: String
    /// What to try next.
    public var hint: String?
    /// The text of the line.
    public var line: String
    public var severity: Severity

    public init(
        file: String, place: Place, message: String, hint: String? = nil, line: String, severity: Severity = .error
    ) {
        self.file = file
        self.place = place
        self.message = message
        self.hint = hint
        self.line = line
        self.severity = severity
    }
}

/// Everything that is wrong with a rule file, in the order of the file.
public struct RuleFileError: Error, Hashable, Sendable {
    /// At least one.
    public var diagnostics: [Diagnostic]
    /// How many more there are.
    public var omitted: Int

    init(_ faults: [Fault], in source: SourceText, file: String) {
        diagnostics = faults.sorted { $0.place < $1.place }.prefix(RuleFileLimits.faults).map {
            Diagnostic(
                file: file, place: $0.place, message: $0.message, hint: $0.hint, line: source.line($0.place.line))
        }
        omitted = faults.count - diagnostics.count
    }
}

/// A diagnostic before it knows its file.
struct Fault: Error, Hashable {
    let place: Place
    /// On one line, whatever the file's text is that it quotes.
    let message: String
    let hint: String?

    init(_ place: Place, _ message: String, hint: String? = nil) {
        self.place = place
        self.message = printable(message)
        self.hint = hint.map(printable)
    }
}

/// With a question mark for each character that would end the line or move the cursor of the terminal that shows it.
private func printable(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    let printed: [Unicode.Scalar] = scalars.map { scalar in
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: scalar == "\t" ? scalar : "?"
        case .format: SourceText.isReordering(scalar) ? "?" : scalar
        default: scalar
        }
    }
    return String(String.UnicodeScalarView(printed))
}

private func printable(_ text: String) -> String { printable(text.unicodeScalars) }

// MARK: - As text

extension Diagnostic: CustomStringConvertible {
    /// The line is shown from this many characters before the caret on, where it is long, and for this many in all.
    private static let shownBefore = 60
    private static let shown = 100

    /// Several lines without a final line break: place and message, the line with a caret, the hint.
    public var description: String {
        let number = "\(place.line)"
        let gutter = String(repeating: " ", count: number.count)
        let scalars = Array(line.unicodeScalars)
        let caret = min(max(place.column - 1, 0), scalars.count)
        let start = max(0, min(caret - Self.shownBefore, scalars.count - Self.shown))
        let end = min(start + Self.shown, scalars.count)
        let excerpt = (start > 0 ? "…" : "") + printable(scalars[start..<end]) + (end < scalars.count ? "…" : "")
        // A tab stays a tab, so that the caret stands below its place however wide tabs are.
        let indent = (start > 0 ? " " : "") + printable(scalars[start..<caret]).map { $0 == "\t" ? "\t" : " " }
        var text = "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message)\n"
        text += "  \(number) | \(excerpt)\n"
        text += "  \(gutter) | \(indent)^"
        if let hint { text += "\n  hint: \(hint)" }
        return text
    }
}

extension RuleFileError: CustomStringConvertible {
    /// All diagnostics, ready to be printed, without a final line break.
    public var description: String {
        let more = omitted == 0 ? [] : ["\(diagnostics[0].file): and \(omitted) more errors"]
        return (diagnostics.map(\.description) + more).joined(separator: "\n")
    }
}
