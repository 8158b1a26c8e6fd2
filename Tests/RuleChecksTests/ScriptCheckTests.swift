import PlugModel
import Testing

@testable import RuleChecks
@testable import RuleModel

@Suite("Rule check: rules of scripts")
struct ScriptCheckTests {
    @Test("The commands that scripts may give are never part of a reported loop or conflict")
    func nothing() {
        let script: [Rule] = [
            .script(0, on: .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40))),
            .script(1, on: .relay(plug: "Lamp", on: nil)), .script(2, on: .relay(plug: "Lamp", on: nil)),
            .script(3, on: .timer(.lightsOut)), .script(4, on: .timer(.lightsOut)),
            .script(5, on: .schedule(.daily(clock("07:30"), on: .all))), .script(6, on: .rule("hall.lua:1")),
            .script(7, of: "other.lua", on: .timer(ScriptTimer(script: "other.lua", name: "nobody starts it"))),
        ]
        #expect(found(script) == [])
        // Another rule turns on the lamp that a script may turn off.
        let lamp = Rule.checked("A", when: .relay(plug: "Lamp", on: false), then: .turnOn(["Lamp"]))
        #expect(found(script + [lamp]) == [])
    }

    @Test("A restore is valid if a script may change the plug")
    func restore() {
        let restore = Rule.checked("A", then: .restore(["Lamp"]))
        #expect(found(restore).count == 1 && found(restore, .scripted) == [])
    }

    @Test("Invalid triggers and unknown names are reported in scripts too")
    func wrong() {
        let high = Trigger.activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 4000))
        #expect(found(.script(on: high)).map { $0.prefix(14) } == ["error 0 when 0"])
        #expect(found(.script(on: .rule("nobody"))) == ["error 0 when 0: no rule is called \"nobody\""])
        let known = [KnownPlug(name: "Lamp")]
        #expect(found(.scripted, in: known) == ["error 0 when 0: no plug is called \"Hall\""])
        let itself = Rule.script(on: .rule("hall.lua:1"))
        #expect(found(itself).count == 1, "a script rule that fires itself must be reported once")
    }

    @Test("Opposite commands conflict if their rules follow two script rules with the same timer")
    func moments() {
        let on = Rule.checked("A", when: .rule("hall.lua:1"), then: .turnOn(["Lamp"]))
        let off = Rule.checked("B", when: .rule("hall.lua:2"), then: .turnOff(["Lamp"]))
        let scripts = [Rule.script(0, on: .timer(.lightsOut)), .script(1, on: .timer(.lightsOut))]
        #expect(found(scripts + [on, off]).count == 2)
    }
}

extension Rule {
    /// The rule that `on(...)` in a script creates.
    fileprivate static func script(_ place: Int = 0, of script: String = "hall.lua", on triggers: Trigger...) -> Rule {
        Rule(
            name: "\(script):\(place + 1)", triggers: triggers,
            actions: [.call(ScriptHandler(script: script, index: place))])
    }

    fileprivate static let scripted = script(on: .button(plug: "Hall", .single))
}

extension ScriptTimer {
    fileprivate static let lightsOut = ScriptTimer(script: "hall.lua", name: "lights out")
}
