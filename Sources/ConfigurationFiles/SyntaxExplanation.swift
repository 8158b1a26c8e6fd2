/// Explanations of common TOML mistakes, with the correct notation. The parser's own messages list the tokens that it
/// expected, which helps only users who know TOML.
enum SyntaxExplanation {
    /// Explains a syntax error.
    ///
    /// - Parameters:
    ///   - reason: the parser's message.
    ///   - line: the text of the line with the error.
    ///   - column: the column, counted from 1.
    ///   - column: counted from 1.
    static func of(_ reason: String, _ line: Substring, column: Int) -> String {
        if reason.hasPrefix("Error while parsing table header: cannot redefine") {
            return "this table stands in the file twice; put all its keys under one of them"
        }
        if reason.hasPrefix("Error while parsing key-value pair: cannot redefine") {
            let key = line.prefix { $0 != "=" }.trimmed
            return "\(key) stands in its table twice; leave one of them out"
        }
        return explain(line.trimmed) ?? "this is no TOML: \(reason)"
    }

    private static func explain(_ line: Substring) -> String? {
        if line.hasPrefix(";") || line.hasPrefix("//") { return "a comment begins with #" }
        if line.hasPrefix("[") { return line.contains { $0 == "]" } ? nil : "the name of a table ends with ]" }
        let key = line.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        let rest = line.dropFirst(key.count).trimmed
        guard !key.isEmpty else { return nil }
        guard rest.hasPrefix("=") else { return "after a key comes = and its value: \(key) = ..." }
        return explain(value: rest.dropFirst().trimmed, of: key)
    }

    private static func explain(value: Substring, of key: Substring) -> String? {
        guard let first = value.first else { return "the value is missing: \(key) = ..." }
        if first == "#" { return "the value is missing: \(key) = ..." }
        if first == "\"" {
            return value.dropFirst().contains { $0 == "\"" } ? nil : "the text has no end: put \" after it"
        }
        let typographic: [Character] = ["\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{00AB}"]
        if typographic.contains(first) {
            return "these quotation marks are typographic ones; a text stands between two \""
        }
        let word = value.prefix { !$0.isWhitespace && $0 != "#" }
        switch word.lowercased() {
        case "true", "yes", "on": return "this is written true, or as a text: \"\(word)\""
        case "false", "no", "off": return "this is written false, or as a text: \"\(word)\""
        case _ where first == "." && Double("0\(word)") != nil: return "a digit stands before the point: 0\(word)"
        case _ where word.contains { $0 == "," } && Double(word.map { $0 == "," ? "." : String($0) }.joined()) != nil:
            return "a point stands before the decimals, no comma"
        case _ where first.isLetter || first == "/":
            return "a text stands in quotation marks: \(key) = \"\(word)\""
        case _: return nil
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
