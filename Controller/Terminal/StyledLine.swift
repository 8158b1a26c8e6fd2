/// A line of text in pieces of one style each. No control character gets in: whatever a plug calls itself, a line can
/// be printed.
public struct StyledLine: Hashable, Sendable {
    public struct Span: Hashable, Sendable {
        public let text: String
        public let style: Style
    }

    public private(set) var spans: [Span] = []

    public init() {}

    public init(_ text: String, _ style: Style = .plain) { append(text, style) }

    public mutating func append(_ text: String, _ style: Style = .plain) {
        let safe = safeText(text)
        if !safe.isEmpty { spans.append(Span(text: safe, style: style)) }
    }

    public mutating func append(_ line: StyledLine) { spans += line.spans }

    public var text: String { spans.map(\.text).joined() }

    /// Display columns.
    public var width: Int { spans.reduce(0) { $0 + DisplayWidth.of($1.text) } }

    /// The first `columns` of the line; a cut is marked with the ellipsis, which takes the style of what it replaces.
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

    /// Exactly `columns` wide: cut, or filled with spaces on the side that the alignment leaves free.
    public func fitted(to columns: Int, _ alignment: Alignment = .left, ellipsis: Character = "…") -> StyledLine {
        guard columns > 0 else { return StyledLine() }
        let cut = truncated(to: columns, ellipsis: ellipsis)
        let filling = StyledLine(String(repeating: " ", count: max(0, columns - cut.width)))
        var line = alignment == .left ? cut : filling
        line.append(alignment == .left ? filling : cut)
        return line
    }

    /// The line with the sequences that colour it; the plain text when there is no colour.
    public func rendered(_ colors: ColorDepth) -> String {
        spans.map { span in
            let start = span.style.sequence(colors)
            return start.isEmpty ? span.text : start + span.text + "\u{1B}[0m"
        }.joined()
    }
}

/// On which side a text stands in its column.
public enum Alignment: Hashable, Sendable {
    case left
    case right
}
