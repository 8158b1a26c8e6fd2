/// The characters that a terminal can show.
public enum ChartGlyphs: Hashable, Sendable {
    /// Braille patterns for dots, box-drawing characters for axes, block characters for sparklines.
    case braille
    /// ASCII only.
    case plain

    /// The number of dots in a character cell.
    var dots: (across: Int, down: Int) {
        switch self {
        case .braille: (2, 4)
        case .plain: (1, 1)
        }
    }

    /// The characters of a sparkline, from lowest to highest.
    var ramp: [Character] {
        switch self {
        case .braille: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        case .plain: ["_", ".", "-", "~", "=", "+", "*", "#"]
        }
    }

    var vertical: Character { self == .braille ? "│" : "|" }
    var horizontal: Character { self == .braille ? "─" : "-" }
    var valueTick: Character { self == .braille ? "┤" : "+" }
    var timeTick: Character { self == .braille ? "┬" : "+" }
    var corner: Character { self == .braille ? "└" : "+" }
    var ellipsis: Character { self == .braille ? "…" : "~" }
    /// The characters of bars: `full` for the measured part, `light` for the estimated part.
    var full: Character { self == .braille ? "█" : "#" }
    var light: Character { self == .braille ? "░" : ":" }
    /// The character of a span that is too short for ends.
    var shortSpan: Character { self == .braille ? "━" : "=" }
    /// The characters of a span: both ends and the part between them.
    var span: (start: Character, middle: Character, end: Character) {
        self == .braille ? ("├", "─", "┤") : ("[", "-", "]")
    }
}

/// The role of a piece of a chart, for the caller that colours it. The text is complete without colours.
public enum ChartRole: Hashable, Sendable {
    case text
    case axis
    /// The curve and legend of the series with this index.
    case series(Int)
}

/// A line of a chart: pieces of text with roles, without control characters.
public struct ChartLine: Hashable, Sendable {
    /// A piece of text with one role.
    public struct Span: Hashable, Sendable {
        /// The text without control characters.
        public var text: String
        /// The role of the whole text.
        public var role: ChartRole
    }

    /// The pieces from left to right; neighbours have different roles.
    public private(set) var spans: [Span] = []

    /// The text of the complete line.
    public var text: String { spans.map(\.text).joined() }

    mutating func append(_ text: String, _ role: ChartRole) {
        guard !text.isEmpty else { return }
        if let end = spans.indices.last, spans[end].role == role {
            spans[end].text += text
        } else {
            spans.append(Span(text: text, role: role))
        }
    }
}

/// Lays out text by display columns. The caller supplies the width of each character in its terminal.
struct TextMeasure {
    let columns: (Character) -> Int
    let ellipsis: Character

    /// Replaces the characters that the terminal cannot show.
    func printed(_ text: String, _ glyphs: ChartGlyphs) -> String {
        glyphs == .braille ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }

    func width(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// Returns exactly `width` columns: truncated with an ellipsis, or filled with spaces on the right.
    func fit(_ text: String, _ width: Int) -> String {
        guard width > 0 else { return "" }
        var total = self.width(text)
        guard total > width else { return text + String(repeating: " ", count: width - total) }
        var kept = text
        while total > width - 1, let removed = kept.popLast() { total -= columns(removed) }
        return kept + String(ellipsis) + String(repeating: " ", count: width - 1 - total)
    }
}

/// Removes control characters from a text of external origin. They could control a terminal or break an XML parser.
func printable(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029, 0xFFFE...0xFFFF: true
        // Overrides of the writing direction would reverse the rest of the line.
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.filter { !isControl($0) }))
}
