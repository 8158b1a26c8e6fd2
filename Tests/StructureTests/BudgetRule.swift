/// Checks that the tables of budgets in the security page list each message of the protocol.
enum BudgetRule {
    private static let page = SecurityRule.page
    private static let proto = "Sources/PlugProtocol/Specification/smartplug.proto"

    static func check(_ tree: SourceTree) -> [Violation] {
        guard let page = tree.files.first(where: { $0.path == page }),
            let proto = tree.files.first(where: { $0.path == proto })
        else { return [] }
        return missing("ControllerMessage", of: proto.text, in: "| message of a controller |", of: page)
            + missing("PlugMessage", of: proto.text, in: "| message of a plug |", of: page)
    }

    /// Returns a violation for each message of the oneof that has no row in the table with this header, or a single one
    /// if the table or the oneof is missing.
    private static func missing(
        _ oneof: String, of proto: String, in header: String, of page: SourceFile
    ) -> [Violation] {
        let words = Set(rows(under: header, of: page.text).flatMap { $0.split { !$0.isLetter }.map(String.init) })
        let messages = messages(of: oneof, in: proto)
        guard !messages.isEmpty, !words.isEmpty else {
            return [Violation(path: page.path, line: 1, reason: "the table \"\(header)\" of \(oneof) is missing")]
        }
        return messages.filter { !words.contains($0) }.map {
            Violation(path: page.path, line: 1, reason: "the table \"\(header)\" has no row for \($0)")
        }
    }

    /// Returns the first cell of each row of the table with this header.
    private static func rows(under header: String, of text: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix(header) }) else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.compactMap { $0.split(separator: "|").first }
    }

    /// Returns the names of the types in `message NAME { oneof kind { Type field = 1; ... } }`.
    private static func messages(of name: String, in proto: String) -> [String] {
        guard let start = proto.firstRange(of: "message \(name) {") else { return [] }
        let body = proto[start.upperBound...].prefix { $0 != "}" }
        return body.matches(of: /(\w+) \w+ = \d+;/).map { String($0.output.1) }
    }
}
