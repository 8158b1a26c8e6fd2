/// A JSON value whose objects keep their order, so that equal descriptions become equal texts.
indirect enum JSON {
    case text(String)
    case number(Int)
    case truth(Bool)
    case list([JSON])
    case object([(String, JSON)])

    static func texts(_ texts: [String]) -> JSON { .list(texts.map { .text($0) }) }

    /// Returns the text with two spaces of indentation per level, without a final line break.
    func written(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .text(let text): return Self.quoted(text)
        case .number(let number): return "\(number)"
        case .truth(let truth): return "\(truth)"
        case .list(let list):
            // A list of plain values is written on one line.
            let isShort = list.allSatisfy { $0.isPlain }
            if isShort { return "[" + list.map { $0.written() }.joined(separator: ", ") + "]" }
            return "[\n" + list.map { inner + $0.written(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let entries):
            if entries.isEmpty { return "{}" }
            let lines = entries.map { inner + Self.quoted($0.0) + ": " + $0.1.written(indent: inner) }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }

    private var isPlain: Bool {
        switch self {
        case .text, .number, .truth: true
        case .list, .object: false
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\u{00}"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            case _: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
