/// Which characters a terminal can show.
public enum ChartGlyphs: Hashable, Sendable {
    /// Braille patterns for dots, box drawing for axes, blocks for sparklines.
    case braille
    /// ASCII only.
    case plain

    /// Dots in a character cell.
    var dots: (across: Int, down: Int) {
        switch self {
        case .braille: (2, 4)
        case .plain: (1, 1)
        }
    }

    /// From lowest to highest.
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
    /// What fills bars, and the part of them that is estimated.
    var full: Character { self == .braille ? "█" : "#" }
    var light: Character { self == .braille ? "░" : ":" }
    /// The ends of a span and what lies between.
    var span: (start: Character, middle: Character, end: Character) {
        self == .braille ? ("├", "─", "┤") : ("[", "-", "]")
    }
}

/// What a piece of a chart is, for whoever colours it. Nothing is told by the role alone.
public enum ChartRole: Hashable, Sendable {
    case text
    case axis
    /// The curve and legend of the series with that index.
    case series(Int)
}

/// A line of a chart: pieces of text, each with its role, without any control character.
public struct ChartLine: Hashable, Sendable {
    public struct Span: Hashable, Sendable {
        public var text: String
        public var role: ChartRole
    }

    public private(set) var spans: [Span] = []

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

/// Text laid out by display columns. The caller knows how wide its terminal shows a character.
struct TextMeasure {
    let columns: (Character) -> Int
    let ellipsis: Character

    /// Words from outside, without characters that the terminal has not.
    func printed(_ text: String, _ glyphs: ChartGlyphs) -> String {
        glyphs == .braille ? text : String(text.map { $0.isASCII ? $0 : "?" })
    }

    func width(_ text: String) -> Int { text.reduce(0) { $0 + columns($1) } }

    /// Exactly `width` columns: cut with an ellipsis, or filled with spaces at the right.
    func fit(_ text: String, _ width: Int) -> String {
        guard width > 0 else { return "" }
        var total = self.width(text)
        guard total > width else { return text + String(repeating: " ", count: width - total) }
        var kept = text
        while total > width - 1, let removed = kept.popLast() { total -= columns(removed) }
        return kept + String(ellipsis) + String(repeating: " ", count: width - 1 - total)
    }
}

/// A name from outside without control characters, which must control neither a terminal nor an XML parser.
func printable(_ text: String) -> String {
    func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029, 0xFFFE...0xFFFF: true
        // Overrides of the writing direction would turn the rest of the line around.
        case 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.filter { !isControl($0) }))
}
