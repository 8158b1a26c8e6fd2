import PlugModel
import RuleModel
import Testing

@testable import RuleFiles

@Suite("Rules of scripts") struct ScriptRulesTests {
    private let script = ScriptRules(name: "tv.lua", source: "-- television\n\n  on(\"TV\", ...)\n")

    private func declaration(_ when: JSONValue, line: Int = 3, _ more: JSONValue.Entry...) -> ScriptRules.Declaration {
        ScriptRules.Declaration(line: line, entries: [JSONValue.Entry("when", when)] + more)
    }

    private func object(_ entries: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(entries.map { JSONValue.Entry($0.key, $0.value) })
    }

    @Test("A declaration becomes the same rule as in a file") func declarationIsTheRuleOfAFile() throws {
        let edge = object([
            "plug": .text("TV"), "active power": object(["rises above": .text("40 W"), "for": .text("3 s")]),
        ])
        let limit = object(["firings": .number("6"), "per": .text("1 h")])
        let rules = try script.rules(of: [
            declaration(
                edge, JSONValue.Entry("cooldown", .text("10 s")), JSONValue.Entry("late", .text("accept")),
                JSONValue.Entry("limit", limit), JSONValue.Entry("away", .text("remember")))
        ])
        let text = """
            - rule: "tv.lua:3"
              when: { plug: TV, active power: { rises above: 40 W, for: 3 s } }
              then: { toggle: Lamp }
              cooldown: 10 s
              late: accept
              limit: { firings: 6, per: 1 h }
              away: remember
            """
        var written = try RuleFile(name: "a.yaml", text: text).rules[0]
        written.actions = [.call(ScriptHandler(script: "tv.lua", index: 0))]
        #expect(rules == [written])
    }

    @Test("Rules that are declared in the same line get different names")
    func eachOfALineHasANameOfItsOwn() throws {
        let press = object(["plug": .text("TV"), "button": .text("pressed")])
        let rules = try script.rules(of: [
            declaration(press), declaration(press), declaration(press, line: 1), declaration(press),
        ])
        #expect(rules.map(\.name) == ["tv.lua:3", "tv.lua:3.2", "tv.lua:1", "tv.lua:3.3"])
        #expect(
            rules.map(\.actions) == (0..<4).map { [.call(ScriptHandler(script: "tv.lua", index: $0))] })
    }

    @Test("A named rule keeps its name when its line changes") func aNameOfItsOwnStaysWhereTheLineDoesNot() throws {
        let press = object(["plug": .text("TV"), "button": .text("pressed")])
        let named = { JSONValue.Entry("name", .text($0)) }
        let rules = try script.rules(of: [
            declaration(press, named("movie night")), declaration(press, named("movie night")), declaration(press),
            declaration(press, named("movie night.2")),
        ])
        #expect(
            rules.map(\.name) == [
                "tv.lua:movie night", "tv.lua:movie night.2", "tv.lua:3", "tv.lua:movie night.2.2",
            ])
        for name in ["3", "", " x", String(repeating: "x", count: 201)] {
            #expect(throws: RuleFileError.self, "\(name)") { try script.rules(of: [declaration(press, named(name))]) }
        }
    }

    @Test("Timers are triggers only in scripts") func timersAreOfScriptsOnly() throws {
        let rules = try script.rules(of: [declaration(object(["timer": .text("lights out")]))])
        #expect(rules[0].triggers == [.timer(ScriptTimer(script: "tv.lua", name: "lights out"))])
        #expect(throws: RuleFileError.self) {
            try RuleFile(name: "a.yaml", text: "- { rule: A, when: { timer: lights out }, then: { toggle: Lamp } }")
        }
        #expect(!RuleSchema.json().contains("timer"))
        let names = [("x", true), ("", false), ("a\nb", false), (String(repeating: "x", count: 201), false)]
        for (name, isName) in names {
            #expect(((try? ScriptRules.timer(name, after: 1)) != nil) == isName, "\(name)")
        }
        #expect(throws: ScriptRules.Refusal.self) { try ScriptRules.timer("x", after: .infinity) }
        #expect(throws: ScriptRules.Refusal.self) { try ScriptRules.timer("x", after: .nan) }
    }

    @Test("An error has the line of its declaration, and a hint") func errorsNameTheLineAndAWayOut() {
        #expect {
            try script.rules(of: [
                declaration(object(["plug": .text("TV"), "relay": .truth(true)])),
                declaration(.text("sunset"), line: 1, JSONValue.Entry("mode", .text("single"))),
            ])
        } throws: { error in
            guard let error = error as? RuleFileError else { return false }
            #expect(error.diagnostics.map(\.file) == ["tv.lua", "tv.lua", "tv.lua"])
            #expect(error.diagnostics.map(\.place.line) == [1, 1, 3] && error.diagnostics[2].place.column == 3)
            #expect(error.diagnostics[2].message == "'true' is not a value of 'relay'")
            #expect(error.diagnostics[2].line == "  on(\"TV\", ...)")
            return error.diagnostics.allSatisfy { $0.hint != nil }
        }
    }

    @Test("A character that changes the display order of text is rejected")
    func textThatIsShownInAnotherOrderIsRefused() throws {
        try ScriptRules(name: "a.lua", source: "plug(\"שלום\"):on()").checkOrder()
        for scalar in ["\u{202A}", "\u{202E}", "\u{2066}", "\u{2069}"] {
            let error = #expect(throws: RuleFileError.self) {
                try ScriptRules(name: "a.lua", source: "-- first\nlog(\"\(scalar)\")").checkOrder()
            }
            #expect(error?.diagnostics.map(\.place) == [Place(line: 2, column: 6)])
            #expect("\(try #require(error))".contains(scalar) == false)
        }
    }

    @Test("More functions than the limit are rejected") func manyFunctionsAreTooMany() throws {
        let press = declaration(object(["plug": .text("TV"), "button": .text("long")]))
        #expect(try script.rules(of: Array(repeating: press, count: 64)).count == 64)
        #expect(throws: RuleFileError.self) { try script.rules(of: Array(repeating: press, count: 65)) }
    }

    @Test("The actions of an answer are parsed, and invalid or waiting actions are refused")
    func answersAreActionsThatDoNotWait() throws {
        let actions = try ScriptRules.actions(of: [
            object(["turn on": object(["plug": .text("Fan"), "for": .text("15 min")])]),
            object(["notify": .text("{plug} is on")]), object(["run": .list([.text("sync"), .number("5")])]),
        ])
        #expect(
            actions == [
                .turnOn(["Fan"], autoOff: .seconds(900)), .notify(title: nil, text: "{plug} is on"),
                .run(["sync", "5"], timeout: .seconds(30)),
            ])
        for wrong in [
            object(["wait": .text("1 s")]), object(["call": .text("x")]), object([:]), .null,
            object(["turn on": .text("a"), "turn off": .text("b")]),
            .object([JSONValue.Entry("toggle", .text("a")), JSONValue.Entry("toggle", .text("b"))]),
        ] {
            #expect(throws: ScriptRules.Refusal.self, "\(wrong)") { try ScriptRules.actions(of: [wrong]) }
        }
        let toggle = object(["toggle": .text("Lamp")])
        #expect(try ScriptRules.actions(of: Array(repeating: toggle, count: 256)).count == 256)
        #expect(throws: ScriptRules.Refusal.self) { try ScriptRules.actions(of: Array(repeating: toggle, count: 257)) }
    }

    @Test("Deeply nested values in an answer are rejected") func valuesNestedTooDeepAreRefused() {
        var deep = JSONValue.text("x")
        for _ in 0..<20 { deep = .list([deep]) }
        #expect(throws: ScriptRules.Refusal.self) { try ScriptRules.actions(of: [object(["toggle": deep])]) }
    }
}
