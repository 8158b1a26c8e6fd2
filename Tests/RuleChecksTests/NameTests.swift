import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: names and capabilities of plugs")
struct CheckedNameTests {
    private let house = [
        KnownPlug(name: "Television", capabilities: [.relay, .meter, .button]),
        KnownPlug(name: "Ceiling Light", capabilities: [.relay, .dimmer]), KnownPlug(name: "Hall"),
    ]

    @Test("An unknown plug is reported with the most similar name; capitalization does not matter")
    func unknownPlug() {
        let rule = Rule.checked(then: .turnOn(["Televison"]), .turnOff(["ceiling light"]))
        let findings = RuleCheck.findings([rule], in: house, knowsSun: true)
        #expect(findings.map(\.line) == ["error 0 then 0: no plug is called \"Televison\""])
        #expect(findings.first?.hint == "did you mean \"Television\"?" && findings.first?.word == "Televison")
    }

    @Test("Names are not checked without a list of plugs; an empty list is reported with a hint")
    func nobodyAsked() {
        #expect(found(.checked(then: .turnOn(["Televison"]))) == [])
        let findings = RuleCheck.findings([.checked(then: .turnOn(["X"]))], in: [], knowsSun: true)
        #expect(findings.count == 2 && findings.allSatisfy { $0.hint?.contains("plugctl browse") == true })
    }

    @Test("Names in triggers, nested conditions and waits are checked")
    func everyPart() {
        let waiting = RuleAction.waitUntil(.not(.relay(plug: "Nowhere", on: true)), timeout: .seconds(9), .stop)
        let rule = Rule.checked(
            when: .lost(plug: "Gone", dwell: .zero), if: [.any([.present(plug: "Other", true), .weekdays(.monday)])],
            then: waiting)
        #expect(
            found(rule, in: house) == [
                "error 0 when 0: no plug is called \"Gone\"", "error 0 if 0: no plug is called \"Other\"",
                "error 0 then 0: no plug is called \"Nowhere\"",
            ])
    }

    @Test("A name that matches two plugs is ambiguous, unless it is an exact match")
    func ambiguous() {
        let twins = [KnownPlug(name: "LAMP"), KnownPlug(name: "Lamp"), KnownPlug(name: "Hall")]
        #expect(
            found(.checked(then: .turnOn(["lamp"])), in: twins) == [
                "error 0 then 0: the name \"lamp\" matches several plugs"
            ])
        #expect(found(.checked(then: .turnOn(["Lamp"])), in: twins) == [])
    }

    @Test("A rule that another rule's trigger names must exist")
    func unknownRule() {
        let other = Rule.checked("Movie night")
        let findings = RuleCheck.findings([other, .checked("B", when: .rule("Movie nigth"))], in: nil, knowsSun: true)
        #expect(findings.map(\.line) == ["error 1 when 0: no rule is called \"Movie nigth\""])
        #expect(findings.first?.hint == "did you mean \"Movie night\"?")
        #expect(found(other, .checked("B", when: .rule("Movie night"), then: .wait(.seconds(1)))) == [])
    }

    @Test("A machine that a rule wakes must be known, in any capitals")
    func unknownMachine() {
        func findings(_ name: String, _ machines: [String]?) -> [RuleFinding] {
            RuleCheck.findings([.checked(then: .wake(name))], in: nil, machines: machines, knowsSun: true)
        }
        let unknown = findings("Media Sever", ["Media Server", "Desk"])
        #expect(unknown.map(\.line) == ["warning 0 then 0: no machine is called \"Media Sever\""])
        #expect(unknown.first?.hint == "did you mean \"Media Server\"?")
        #expect(findings("X", []).first?.hint?.hasPrefix("add it to machines.toml") == true)
        #expect(findings("media server", ["Media Server"]) == [])
        #expect(findings("X", nil) == [])
    }

    @Test("Two rules with one name are an error, and two rules that do the same are a warning")
    func twins() {
        let other = Rule.checked("A", then: .turnOn(["Hall"]))
        #expect(found(.checked("A"), other) == ["error 1 name: duplicate rule name \"A\""])
        #expect(found(.checked("A"), .checked("B")) == ["warning 1 name: it does the same as \"A\""])
        #expect(found(.checked("A"), .checked("B", then: .turnOn(["Hall"]))) == [])
    }

    @Test("Triggers, conditions and actions that a plug does not support are reported")
    func capabilities() {
        let wrong = Rule.checked(
            when: .rises("Ceiling Light", 5), .button(plug: "Ceiling Light", .single),
            if: [.level(plug: "Television", .above(DimLevel(permille: 500)!))],
            then: .dim(["Television"], to: DimLevel(permille: 300)!, over: .zero))
        #expect(
            found(wrong, in: house) == [
                "error 0 when 0: Ceiling Light has no meter", "error 0 when 1: Ceiling Light has no button",
                "error 0 if 0: Television has no dimmer", "error 0 then 0: Television has no dimmer",
            ])
        let right = Rule.checked(
            when: .rises("Television", 5), .button(plug: "Television", .single),
            if: [.level(plug: "Ceiling Light", .above(DimLevel(permille: 500)!))],
            then: .dim(["Ceiling Light"], to: DimLevel(permille: 300)!, over: .zero))
        #expect(found(right, in: house) == [])
        #expect(
            found(.checked(when: .rises("Hall", 5)), in: house) == [],
            "a plug with unknown capabilities must not be reported")
    }
}
