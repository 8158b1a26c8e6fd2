/// A place in a file. Lines and columns count from 1, as in editors; columns count Unicode scalars.
public struct Place: Hashable, Comparable, Sendable {
    /// The line, from 1.
    public var line: Int
    /// The column in Unicode scalars, from 1.
    public var column: Int

    /// Creates a place.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Orders places as they follow each other in the file.
    public static func < (left: Place, right: Place) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A mistake in a file: its place, a description and a hint.
public struct Diagnostic: Hashable, Sendable {
    /// How serious a mistake is.
    public enum Severity: String, Hashable, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used, but probably does not do what the author wants.
        case warning
    }

    /// The name of the file.
    public var file: String
    /// The place of the mistake.
    public var place: Place
    /// A description of the mistake, without a full stop.
    public var message: String
    /// A hint about what to change; nil for no hint.
    public var hint: String?
    /// The text of the line.
    public var line: String
    /// How serious the mistake is.
    public var severity: Severity

    /// Creates a diagnostic.
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

/// The mistakes in a rule file: the first ones in the order of the file, and the number of the others.
public struct RuleFileError: Error, Hashable, Sendable {
    /// At least one diagnostic, and at most 20.
    public var diagnostics: [Diagnostic]
    /// The number of mistakes after those in `diagnostics`.
    public var omitted: Int

    init(_ faults: [Fault], in source: SourceText, file: String) {
        diagnostics = faults.sorted { $0.place < $1.place }.prefix(RuleFileLimits.faults).map {
            Diagnostic(
                file: file, place: $0.place, message: $0.message, hint: $0.hint, line: source.line($0.place.line))
        }
        omitted = faults.count - diagnostics.count
    }
}

/// A mistake with its place, without the name of its file.
struct Fault: Error, Hashable {
    let place: Place
    /// One line without control characters, even if it quotes the file.
    let message: String
    let hint: String?

    init(_ place: Place, _ message: String, hint: String? = nil) {
        self.place = place
        self.message = printable(message)
        self.hint = hint.map(printable)
    }
}

/// Writes a question mark in place of each character that could end the line, move the terminal's cursor or reorder the
/// text. Keeps tabs.
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

// MARK: - Text

extension Diagnostic: CustomStringConvertible {
    /// The limits of an excerpt of a long line: the characters before the caret, and the characters in total.
    private static let shownBefore = 60
    private static let shown = 100

    /// Several lines without a final line break: place and message, the line of the file with a caret, the hint.
    public var description: String {
        let number = "\(place.line)"
        let gutter = String(repeating: " ", count: number.count)
        let scalars = Array(line.unicodeScalars)
        let caret = min(max(place.column - 1, 0), scalars.count)
        let start = max(0, min(caret - Self.shownBefore, scalars.count - Self.shown))
        let end = min(start + Self.shown, scalars.count)
        let excerpt = (start > 0 ? "…" : "") + printable(scalars[start..<end]) + (end < scalars.count ? "…" : "")
        // Keep tabs, so that the caret is below its place for any tab width.
        let indent = (start > 0 ? " " : "") + printable(scalars[start..<caret]).map { $0 == "\t" ? "\t" : " " }
        var text = "\(file):\(place.line):\(place.column): \(severity.rawValue): \(message)\n"
        text += "  \(number) | \(excerpt)\n"
        text += "  \(gutter) | \(indent)^"
        if let hint { text += "\n  hint: \(hint)" }
        return text
    }
}

extension RuleFileError: CustomStringConvertible {
    /// All diagnostics as text, without a final line break.
    public var description: String {
        let more = omitted == 0 ? [] : ["\(diagnostics[0].file): \(omitted) more errors"]
        return (diagnostics.map(\.description) + more).joined(separator: "\n")
    }
}
