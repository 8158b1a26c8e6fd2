import ProtocolCore
import Testing
import Yams

@testable import RuleFiles

@Suite("The nesting limit is checked before the text is parsed")
struct NestingScanTests {
    private func place(_ text: String, deeperThan limit: Int = 3) -> Place? {
        NestingScan.firstDeeper(than: limit, in: SourceText(text))
    }

    @Test(
        "Brackets in quotes, comments, text blocks and plain text are not counted",
        arguments: [
            "- \"[[[[\"\n- '{{{''{{'\n", "- Lamp [[[[\n- [a, b]\n", "# [[[[\n- [a] # {{{{\n",
            "- |\n  [[[[\n  \"\n- [a]\n",
            "- >2\n   {{{{\n- [x]\n", "- text\n  \"{{{{ goes on\n- [a]\n", "- \"a\\\"[[[\"\n", "--- [a]\n",
            "- a: [b, 'c]]', \"d\"]\n",
        ])
    func notNested(text: String) { #expect(place(text) == nil) }

    @Test(
        "Text that resembles a quote, a comment or a text block does not hide nesting",
        arguments: [
            ("- a, \"\n- [[[x]]]\n", 2, 5), ("- a\n  \"\n- [[[x]]]\n", 3, 5), ("- a - \"\n- [[[x]]]\n", 2, 5),
            ("- a\n  - \"\n- [[[x]]]\n", 3, 5), ("- a#\"\n- [[[x]]]\n", 2, 5), ("- [\"]\", [\"]\", [\"]\"]]]\n", 1, 15),
            ("- ['\n]', ['\n]', [x]]]\n", 3, 5), ("- x |\n  [[[x\n- [[[x]]]\n", 3, 5),
            ("- &a \"x\"\n- [[[x]]]\n", 2, 5),
            ("k: v\n\"a #b\": [[[x]]]\n", 2, 11), ("k: v\n? [[[x]]]\n", 2, 5), ("? a\n: b\n  \"\n? [[[x]]]\n", 4, 5),
        ])
    func hidden(text: String, line: Int, column: Int) {
        #expect(place(text) == Place(line: line, column: column))
    }

    /// Returns the depth of nested lists in brackets. Braces are not counted.
    private func brackets(_ node: Node) -> Int {
        switch node {
        case .scalar, .alias: 0
        case .sequence(let list): (list.style == .flow ? 1 : 0) + (list.map { brackets($0) }.max() ?? 0)
        case .mapping(let mapping): mapping.map { max(brackets($0.key), brackets($0.value)) }.max() ?? 0
        }
    }

    private func depth(_ node: Node) -> Int {
        switch node {
        case .scalar, .alias: 0
        case .sequence(let list): 1 + (list.map { depth($0) }.max() ?? 0)
        case .mapping(let mapping): 1 + (mapping.map { max(depth($0.key), depth($0.value)) }.max() ?? 0)
        }
    }

    @Test("For text that the YAML library can parse, the scan counts at least half of the depth and all brackets")
    func againstTheLibrary() throws {
        let pieces = [
            "[", "]", "{", "}", ",", ", ", ": ", ":", "\n", "\n  ", "\n    ", "- ", "? ", "\"", "'", "\\", "#", " #",
            " ", "a",
            "b c", "&x ", "!t ", "|\n", ">\n   ", "\n- ", "\n---\n", "\"a\"", "'b'", "\r\n", "[a]", "{b: c}", "k: ",
            "\nk: ",
        ]
        var read = 0
        for seed in 0..<30_000 {
            var random = SeededRandom(seed: UInt64(seed))
            let count = Int.random(in: 3...24, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            guard let root = try? Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot() else { continue }
            read += 1
            var scanned = 0
            while place(text, deeperThan: scanned) != nil { scanned += 1 }
            #expect(depth(root) <= 2 * scanned, "\(text.debugDescription)")
            #expect(brackets(root) <= scanned, "\(text.debugDescription)")
        }
        #expect(read > 1000)
    }

    @Test(
        "A file of 1 MiB of nesting is rejected in a short time",
        .timeLimit(.minutes(1)),
        arguments: [
            String(repeating: "{", count: 1 << 20), String(repeating: "[{", count: 1 << 19),
            String(
                repeating: String(repeating: "{", count: 900) + String(repeating: "}", count: 900) + ",", count: 500),
            String(repeating: "- " + String(repeating: "? ", count: 450) + "x\n", count: 1000),
            String(repeating: " ", count: 1 << 19) + String(repeating: "x", count: 1 << 18),
        ])
    func large(text: String) throws {
        #expect(throws: RuleFileError.self) { try RuleFile(name: "f", text: text) }
    }

    @Test("The error message for too deep nesting has a place and a hint")
    func message() throws {
        let text = "- rule: A\n  when: " + String(repeating: "{", count: 20) + "\n"
        let error = try #require(throws: RuleFileError.self) { try RuleFile(name: "rules.yaml", text: text) }
        #expect(
            error.description == """
                rules.yaml:2:23: error: lists and mappings are nested more than 16 deep
                  2 |   when: {{{{{{{{{{{{{{{{{{{{
                    |                       ^
                  hint: check for an open bracket; nested conditions can be six levels deep, or more without lists
                """)
    }
}
