import PlugModel
import RuleChecks
import RuleModel
import Testing

@Suite("Rule check: loops")
struct LoopTests {
    private static let turnedOn = Rule.checked("A", when: .relay(plug: "Lamp", on: true), then: .turnOff(["Lamp"]))
    private static let turnedOff = Rule.checked("B", when: .relay(plug: "Lamp", on: false), then: .turnOn(["Lamp"]))

    @Test("Two rules that undo each other are a certain loop, and the message has the complete path")
    func certain() {
        #expect(
            found(Self.turnedOn, Self.turnedOff) == [
                """
                error 0 then 0: endless loop: "A": turn off Lamp → Lamp is turned off → \
                "B": turn on Lamp → Lamp is turned on → "A" again
                """
            ])
        #expect(found(Self.turnedOn) == [] && found(Self.turnedOff) == [])
    }

    @Test("A wait, a cooldown, a limit or a condition in the loop turns the error into a warning")
    func warnings() {
        var cooling = Self.turnedOff
        cooling.cooldown = .seconds(60)
        var limited = Self.turnedOff
        limited.limit = FiringLimit(3, within: .seconds(60))
        var judged = Self.turnedOff
        judged.conditions = [.present(plug: "Fan", true)]
        var waiting = Self.turnedOff
        waiting.actions.insert(.wait(.seconds(5)), at: 0)
        for rule in [cooling, limited, judged, waiting] {
            #expect(found(Self.turnedOn, rule).map { $0.prefix(34) } == ["warning 0 then 0: possible endless"])
        }
    }

    @Test("A condition that the other rule's action makes false breaks the loop, as do mutually exclusive conditions")
    func cut() {
        var judged = Self.turnedOff
        judged.conditions = [.relay(plug: "Fan", on: true)]
        var other = Self.turnedOn
        other.actions.append(.turnOff(["fan"]))
        #expect(found(judged, other) == [])
        other.actions[1] = .turnOn(["Fan"])
        #expect(found(judged, other).count == 1)
        var byDay = Self.turnedOn
        byDay.conditions = [.time("08:00", "18:00")]
        var byNight = Self.turnedOff
        byNight.conditions = [.time("18:00", "08:00")]
        #expect(found(byDay, byNight) == [])
    }

    @Test("A loop through power is found: turning on raises the power, turning off lowers it")
    func power() {
        let warm = Rule.checked("Warm", when: .falls("Heater", 10), then: .turnOn(["Heater"]))
        let cool = Rule.checked("Cool", when: .rises("Heater", 1000), then: .turnOff(["Heater"]))
        #expect(
            found(warm, cool) == [
                """
                warning 0 then 0: possible endless loop: "Warm": turn on Heater → Heater rises above 1000 W → \
                "Cool": turn off Heater → Heater falls below 10 W → "Warm" again
                """
            ])
        let weak = [KnownPlug(name: "Heater", activePower: 0...800)]
        #expect(found([warm, cool], in: weak).allSatisfy { !$0.contains("endless loop") })
        let strong = [KnownPlug(name: "Heater", activePower: 0...2000)]
        #expect(found([warm, cool], in: strong).count == 1)
    }

    @Test("A loop over two plugs, through power and a relay, is found")
    func acrossPlugs() {
        let first = Rule.checked("A", when: .rises("Television", 40), then: .toggle(["Amplifier"]))
        let second = Rule.checked("B", when: .relay(plug: "Amplifier", on: nil), then: .toggle(["Television"]))
        #expect(found(first, second) == [], "turning the television off ends the chain")
        let third = Rule.checked(
            "C", when: .relay(plug: "Amplifier", on: true), then: .turnOff(["Television", "Amplifier"]))
        let fourth = Rule.checked("D", when: .falls("Television", 5), then: .turnOn(["Television"]))
        #expect(found(first, third, fourth).contains { $0.contains("endless loop") })
    }

    @Test("Rules are not a loop if the last command leaves a plug in the state that it already has")
    func rests() {
        let first = Rule.checked("A", when: .relay(plug: "Left", on: true), then: .turnOn(["Right"]))
        let second = Rule.checked("B", when: .relay(plug: "Right", on: true), then: .turnOn(["Left"]))
        let third = Rule.checked("C", when: .relay(plug: "Left", on: false), then: .turnOff(["Right"]))
        let fourth = Rule.checked("D", when: .relay(plug: "Right", on: false), then: .turnOff(["Left"]))
        #expect(found(first, second, third, fourth) == [])
        let story = Rule.checked("A", when: .rises("Television", 40), then: .turnOn(["Amplifier"]))
        let back = Rule.checked("B", when: .rises("Amplifier", 20), then: .turnOn(["Television"]))
        #expect(found(story, back) == [])
    }

    @Test("A rule that turns its own plug on with an auto-off, or off after low power, is not a loop")
    func autoOff() {
        let fan = Rule.checked(
            "A", when: .relay(plug: "Fan", on: true), then: .turnOn(["Fan"], autoOff: .seconds(900)))
        #expect(found(fan) == [])
        let standby = Rule.checked(
            "A", when: .falls("Television", 5, for: .seconds(600)), then: .turnOff(["Television"]))
        #expect(found(standby) == [])
    }

    @Test("A single rule can be a loop: by its relay, or by its own firing")
    func alone() {
        let toggle = Rule.checked("A", when: .relay(plug: "Lamp", on: nil), then: .toggle(["Lamp"]))
        #expect(found(toggle).map { $0.prefix(22) } == ["error 0 then 0: endles"])
        #expect(found(.checked("A", when: .rule("A"))).map { $0.prefix(18) } == ["error 0 name: endl"])
        let single = Rule.checked("A", when: .relay(plug: "Lamp", on: true), then: .toggle(["Lamp"]))
        #expect(found(single) == [])
    }

    @Test("Rules that fire each other are a loop, which is reported once")
    func firings() {
        let rules = [("A", "C"), ("B", "A"), ("C", "B")].map { Rule.checked($0.0, when: .rule($0.1)) }
        let way = "\"A\" fires → \"B\" fires → \"C\" fires → \"A\" again"
        #expect(found(rules) == ["error 0 name: endless loop: \(way)"])
        #expect(found(Array(rules.dropLast())).filter { $0.contains("endless loop") } == [])
    }

    @Test("A single rule can be a loop through the power or the relay of its own plug")
    func itself() {
        let triggers = [Trigger.rises("Heater", 100), .falls("Heater", 50)]
        let rule = Rule(name: "A", triggers: triggers, actions: [.toggle(["Heater"])])
        #expect(found(rule).count { $0.contains("possible endless loop") } == 1)
        let relay = [Trigger.relay(plug: "Heater", on: true), .relay(plug: "Heater", on: false)]
        #expect(
            found(Rule(name: "A", triggers: relay, actions: [.toggle(["Heater"])])).count {
                $0.contains("endless loop")
            } == 1)
        // Once the heater is on, it stays on.
        #expect(
            found(Rule(name: "A", triggers: triggers, actions: [.turnOn(["Heater"])])).filter {
                $0.contains("endless loop")
            }
                == [])
        let again = Rule.checked(
            "A", when: .rises("Heater", 100), then: .turnOff(["Heater"]), .wait(.seconds(60)), .turnOn(["Heater"]))
        #expect(found(again).count { $0.contains("endless loop") } == 1)
    }

    @Test("Dimming to two different levels is a loop; to the same level, it is not")
    func dimming() {
        func rule(_ name: String, _ trigger: Trigger, _ permille: Int) -> Rule {
            .checked(name, when: trigger, then: .dim(["Lamp"], to: DimLevel(permille: permille)!, over: .zero))
        }
        let high = rule("A", .rises("Lamp", 20), 200)
        #expect(found(high, rule("B", .falls("Lamp", 5), 800)).count == 1)
        #expect(found(high, rule("B", .falls("Lamp", 5), 200)) == [])
    }

    @Test("The loop search over a thousand rules on one plug ends within a minute", .timeLimit(.minutes(1)))
    func bounded() {
        let rules = (0..<1000).map { index in
            Rule.checked("\(index)", when: .relay(plug: "Lamp", on: index % 2 == 0), then: .toggle(["Lamp"]))
        }
        let lines = found(rules)
        #expect(lines.count { $0.hasPrefix("warning") } <= RuleCheck.warningLimit + 2)
        #expect(lines.contains { $0.contains("the check is incomplete") })
    }
}
