/// A line of text in spans of one style each. Control characters are removed, so a line with untrusted names can be
/// printed safely.
public struct StyledLine: Hashable, Sendable {
    /// A text with one style.
    public struct Span: Hashable, Sendable {
        /// The text without control characters.
        public let text: String
        /// The style of the whole text.
        public let style: Style
    }

    /// The spans from left to right.
    public private(set) var spans: [Span] = []

    /// Creates an empty line.
    public init() {}

    /// Creates a line with one span.
    public init(_ text: String, _ style: Style = .plain) { append(text, style) }

    /// Appends a text without its control characters.
    public mutating func append(_ text: String, _ style: Style = .plain) {
        let safe = safeText(text)
        if !safe.isEmpty { spans.append(Span(text: safe, style: style)) }
    }

    /// Appends a line.
    public mutating func append(_ line: StyledLine) { spans += line.spans }

    /// The text without styles.
    public var text: String { spans.map(\.text).joined() }

    /// The width in display columns.
    public var width: Int { spans.reduce(0) { $0 + DisplayWidth.of($1.text) } }

    /// Returns the line with at most `columns` columns. In a wider line, an ellipsis replaces the end and is included
    /// in the limit; it has the style of the first replaced character. Empty if `columns` has no room for the ellipsis.
    public func truncated(to columns: Int, ellipsis: Character = "…") -> StyledLine {
        guard width > columns else { return self }
        let mark = DisplayWidth.of(ellipsis)
        guard columns >= mark else { return StyledLine() }
        var room = columns - mark
        var cut = StyledLine()
        for span in spans {
            var kept = ""
            for character in span.text {
                let wide = DisplayWidth.of(character)
                guard wide <= room else {
                    cut.append(kept + String(ellipsis), span.style)
                    return cut
                }
                kept.append(character)
                room -= wide
            }
            cut.append(kept, span.style)
        }
        return cut
    }

    /// Returns the line with exactly `columns` columns: cut, or padded with spaces on the side opposite to the
    /// alignment.
    public func fitted(to columns: Int, _ alignment: Alignment = .left, ellipsis: Character = "…") -> StyledLine {
        guard columns > 0 else { return StyledLine() }
        let cut = truncated(to: columns, ellipsis: ellipsis)
        let filling = StyledLine(String(repeating: " ", count: max(0, columns - cut.width)))
        var line = alignment == .left ? cut : filling
        line.append(alignment == .left ? filling : cut)
        return line
    }

    /// Returns the line with its colour sequences, or the plain text without colours.
    public func rendered(_ colors: ColorDepth) -> String {
        spans.map { span in
            let start = span.style.sequence(colors)
            return start.isEmpty ? span.text : start + span.text + "\u{1B}[0m"
        }.joined()
    }
}

/// The alignment of a text in its column.
public enum Alignment: Hashable, Sendable {
    case left
    case right
}
