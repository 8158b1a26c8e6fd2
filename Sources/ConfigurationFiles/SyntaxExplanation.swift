/// Explanations of common TOML mistakes, with the correct notation. The parser's own messages list the tokens that it
/// expected, which helps only users who know TOML.
enum SyntaxExplanation {
    /// Explains a syntax error.
    ///
    /// - Parameters:
    ///   - reason: the parser's message.
    ///   - line: the text of the line with the error.
    ///   - column: the column, counted from 1.
    static func of(_ reason: String, _ line: Substring, column: Int) -> String {
        if reason.hasPrefix("Error while parsing table header: cannot redefine") {
            return "duplicate table; put all its keys under one [table]"
        }
        if reason.hasPrefix("Error while parsing key-value pair: cannot redefine") {
            let key = line.prefix { $0 != "=" }.trimmed
            return "duplicate key \(key); delete one of the two"
        }
        return explain(line.trimmed) ?? "invalid TOML: \(reason)"
    }

    private static func explain(_ line: Substring) -> String? {
        if line.hasPrefix(";") || line.hasPrefix("//") { return "a comment must begin with #" }
        if line.hasPrefix("[") { return line.contains { $0 == "]" } ? nil : "the name of a table must end with ]" }
        let key = line.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
        let rest = line.dropFirst(key.count).trimmed
        guard !key.isEmpty else { return nil }
        guard rest.hasPrefix("=") else { return "a key must be followed by = and its value: \(key) = ..." }
        return explain(value: rest.dropFirst().trimmed, of: key)
    }

    private static func explain(value: Substring, of key: Substring) -> String? {
        guard let first = value.first else { return "the value is missing: \(key) = ..." }
        if first == "#" { return "the value is missing: \(key) = ..." }
        if first == "\"" {
            return value.dropFirst().contains { $0 == "\"" } ? nil : "unterminated string: put \" after it"
        }
        let typographic: [Character] = ["\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{00AB}"]
        if typographic.contains(first) {
            return "these are typographic quotation marks; write strings between two \""
        }
        let word = value.prefix { !$0.isWhitespace && $0 != "#" }
        switch word.lowercased() {
        case "true", "yes", "on": return "write this as true, or as a string: \"\(word)\""
        case "false", "no", "off": return "write this as false, or as a string: \"\(word)\""
        case _ where first == "." && Double("0\(word)") != nil: return "a digit must be before the point: 0\(word)"
        case _ where word.contains { $0 == "," } && Double(word.map { $0 == "," ? "." : String($0) }.joined()) != nil:
            return "use a point as the decimal separator, not a comma"
        case _ where first.isLetter || first == "/":
            return "write a string in quotation marks: \(key) = \"\(word)\""
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
