import RuleChecks
import RuleFiles
import Testing

@Suite("Places of findings")
struct RulePlaceTests {
    private static let text = """
        - rule: Movie night
          when:
            - { plug: Television, button: long }
            - plug: Hall
              relay: on
          if:
            - time: { after: sunset }
              weekdays: [sat, sun]
            - { plug: Lamp, relay: on }
          then:
            - turn off: [Ceiling Light, Lamp]
            - { toggle: Hall }
          cooldown: 10 s
        - { rule: B, when: { rule: Movie night }, then: { toggle: Fan } }
        """

    private func places() throws -> [RulePlaces] { try RuleFile(name: "rules.yaml", text: Self.text).places }

    @Test("Each part of a rule, and each name in a part, has its place in the file")
    func parts() throws {
        let places = try places()
        let expected: [(RulePart, String?, Int, Int)] = [
            (.name, nil, 1, 9), (.trigger(0), nil, 3, 7), (.trigger(0), "Television", 3, 15), (.trigger(1), nil, 4, 7),
            (.trigger(1), "Hall", 4, 13), (.condition(0), nil, 7, 7), (.condition(1), nil, 8, 7),
            (.condition(1), "sun", 8, 23), (.condition(2), "Lamp", 9, 15), (.action(0), "Lamp", 11, 33),
            (.action(1), nil, 12, 7), (.key("cooldown"), nil, 13, 13), (.key("mode"), nil, 1, 9),
            (.trigger(0), "nobody", 3, 7), (.action(9), nil, 1, 9),
        ]
        for (part, word, line, column) in expected {
            #expect(places[0].place(of: part, word: word) == Place(line: line, column: column), "\(part) \(word ?? "")")
        }
        #expect(places[1].place(of: .trigger(0), word: "Movie night") == Place(line: 14, column: 28))
    }

    @Test("Findings about the rules of a file become diagnostics in the order of the file")
    func diagnostics() throws {
        let file = try RuleFile(name: "rules.yaml", text: Self.text)
        let found = file.diagnostics(
            for: [
                RuleFinding(.error, rule: 3, .action(0), word: "Fan", "no plug is called 'Fan'"),
                RuleFinding(.warning, rule: 2, .key("cooldown"), "it is short", hint: "write 1 min"),
                RuleFinding(.error, rule: 1, .name, "of another file"),
                RuleFinding(.error, rule: 4, .name, "of another file"),
            ], first: 2)
        #expect(
            found.map(\.description) == [
                """
                rules.yaml:13:13: warning: it is short
                  13 |   cooldown: 10 s
                     |             ^
                  hint: write 1 min
                """,
                """
                rules.yaml:14:59: error: no plug is called 'Fan'
                  14 | - { rule: B, when: { rule: Movie night }, then: { toggle: Fan } }
                     |                                                           ^
                """,
            ])
    }
}
