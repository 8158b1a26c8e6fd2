import RuleFiles
import Testing

/// A file with mistakes, and the complete message that the user sees.
struct BrokenFile: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var text: String
    var message: String

    init(_ what: String, _ text: String, _ message: String) {
        testDescription = what
        self.text = text
        self.message = message
    }
}

@Suite("Messages for broken files")
struct BrokenFileTests {
    @Test(
        "Each mistake is reported with its place, its line with a caret, and a hint",
        arguments: BrokenFile.rules + BrokenFile.shapes + BrokenFile.words + BrokenFile.yaml)
    func messages(file: BrokenFile) {
        #expect(Self.error(file.text)?.description == file.message)
    }

    static func error(_ text: String) -> RuleFileError? {
        #expect(throws: RuleFileError.self) { try RuleFile(name: "rules.yaml", text: text) }
    }

    @Test("If a file has more than 20 mistakes, the first 20 are shown and the others are counted")
    func many() throws {
        let rule = "  when: { plug: TV, button: pressed }\n  then: { toggle: TV }\n"
        let text = (1...30).map { "- rule: R\($0)\n  odd: 1\n\(rule)" }.joined()
        let error = try #require(Self.error(text))
        #expect(error.diagnostics.count == 20 && error.omitted == 10)
        #expect(error.diagnostics.map(\.place) == (0..<20).map { Place(line: 2 + 4 * $0, column: 3) })
        #expect(error.description.hasSuffix("\nrules.yaml: 10 more errors"))
    }

    @Test("A long line is cut around the caret; carriage returns and a byte order mark do not move the caret")
    func excerpts() throws {
        let long =
            "- { rule: A, \(String(repeating: " ", count: 300))odd: 1, \(String(repeating: "x", count: 300)): 2 }"
        let lines = try #require(Self.error(long)).diagnostics[0].description.split(separator: "\n")
        #expect(lines[1].count <= 110 && lines[1].hasSuffix("…"))
        #expect(lines[1].dropFirst(lines[2].count - 1).hasPrefix("odd: 1"))

        let windows = try #require(Self.error("\u{FEFF}- rule: A\r\n  odd: 1\r\n  when: 1\r\n  then: 2\r\n"))
        #expect(windows.diagnostics[0].place == Place(line: 2, column: 3))
        #expect(windows.diagnostics[0].line == "  odd: 1")
    }

    @Test("A tab before the caret remains a tab")
    func tabs() throws {
        let error = try #require(Self.error("- rule: A\n  when:\t[ odd ]\n  then: { toggle: TV }\n"))
        #expect(error.description.contains("\n    |        \t  ^"))
    }
}
