import RuleFiles
import Testing

@Suite("Hostile files")
struct HostileFileTests {
    /// Reads the text. The only allowed results are rules, or diagnostics with places in the text.
    private func read(_ text: String) -> RuleFileError? {
        do {
            _ = try RuleFile(name: "f", text: text)
            return nil
        } catch {
            #expect(!error.diagnostics.isEmpty)
            for diagnostic in error.diagnostics {
                #expect(diagnostic.place.line >= 1 && diagnostic.place.column >= 1 && !diagnostic.message.isEmpty)
            }
            #expect(!error.description.isEmpty)
            return error
        }
    }

    @Test("Nested aliases with exponentially many values are counted and not expanded")
    func aliasExplosion() throws {
        let levels = (1...30).map { "- &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 9).joined(separator: ", "))]" }
        let error = try #require(read("- &a0 [x, x, x]\n" + levels.joined(separator: "\n")))
        #expect(error.diagnostics[0].message == "more than 100000 values after the expansion of aliases")
    }

    @Test("Keys with exponentially many values by nested aliases are not compared")
    func aliasExplosionInKey() throws {
        let levels = (1...40).map { "- &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]" }
        let error = try #require(
            read("- &a0 [x]\n" + levels.joined(separator: "\n") + "\n- {[*a40, *a40]: 1, [*a39]: 2}"))
        #expect(error.diagnostics.count == 1)
    }

    @Test("An alias within its own anchor is not resolved")
    func selfReference() throws {
        #expect(try #require(read("- &a [*a]")).diagnostics[0].message == "the alias '*a' has no anchor before it")
    }

    @Test("Deep nesting is rejected", arguments: ["[", "{a: ", "- ", "? "])
    func depth(open: String) {
        #expect(read(String(repeating: open, count: 100_000)) != nil)
        #expect(read(String(repeating: open, count: 500) + "x") != nil)
    }

    @Test("A file of more than 1 MiB, or with more than 1000 rules, is rejected")
    func size() throws {
        let tooLarge = try #require(read("# " + String(repeating: "x", count: 1 << 20)))
        #expect(tooLarge.diagnostics[0].message == "the file is larger than 1 MiB")
        #expect(read("# " + String(repeating: "x", count: (1 << 20) - 2)) == nil)
        func rules(_ count: Int) -> String {
            (1...count).map {
                "- { rule: R\($0), when: { plug: TV, button: long }, then: { toggle: TV } }\n"
            }.joined()
        }
        #expect(read(rules(1000)) == nil)
        let tooMany = try #require(read(rules(1001)))
        #expect(tooMany.diagnostics.map(\.message) == ["more than 1000 rules in one file"])
        #expect(tooMany.diagnostics[0].place == Place(line: 1001, column: 3))
    }
}
