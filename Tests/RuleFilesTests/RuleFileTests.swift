import PlugModel
import RuleFiles
import RuleModel
import Testing

@Suite("Rules from files")
struct RuleFileTests {
    private func rules(_ text: String) throws -> [Rule] { try RuleFile(name: "rules.yaml", text: text).rules }

    @Test("A complete rule has its trigger, window and actions")
    func whole() throws {
        let text = """
            - rule: Movie night
              when:
                plug: Television
                active power: { rises above: 40 W, for: 3 s }
              if:
                time: { after: "17:00", before: "02:00" }
              then:
                - turn off: [Ceiling Light, Floor Lamp]
                - turn on: Amplifier
            """
        let rule = Rule(
            name: "Movie night",
            triggers: [
                .activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3)))
            ],
            conditions: [
                .time(
                    DailyWindow(
                        after: try #require(TimeOfDay(hour: 17, minute: 0)),
                        before: try #require(TimeOfDay(hour: 2, minute: 0))))
            ],
            actions: [.turnOff(["Ceiling Light", "Floor Lamp"]), .turnOn(["Amplifier"])])
        #expect(try rules(text) == [rule])
    }

    @Test("Triggers, conditions and actions are read, in lists and without lists")
    func forms() throws {
        let text = """
            - rule: All
              when:
                - { plug: TV, active power: { falls below: 1.5 kW, hysteresis: 100 mW } }
                - { plug: Hall, button: pressed }
                - { plug: Hall, button: single }
                - { plug: Hall, button: double }
                - { plug: Hall, button: long }
              if:
                - plug: Lamp
                  relay: on
                - relay: off
                  plug: Fan
                  time: { before: 6:30 }
                - time: { after: "22:15:30" }
              then:
                - toggle: [Lamp, Fan]
                - dim: { plug: [Lamp], to: 12.5%, over: 1.5 min }
                - dim: { plug: Fan, to: 0 % }
              cooldown: 250 ms
            """
        let rule = try #require(try rules(text).first)
        #expect(
            rule.triggers == [
                .activePower(plug: "TV", PowerThreshold(.fallsBelow, watts: 1500, hysteresis: 0.1)),
                .button(plug: "Hall", .single), .button(plug: "Hall", .single), .button(plug: "Hall", .double),
                .button(plug: "Hall", .long),
            ])
        #expect(
            rule.conditions == [
                .relay(plug: "Lamp", on: true),
                .relay(plug: "Fan", on: false),
                .time(DailyWindow(before: try #require(TimeOfDay(hour: 6, minute: 30)))),
                .time(DailyWindow(after: try #require(TimeOfDay(second: 80_130)))),
            ])
        #expect(
            rule.actions == [
                .toggle(["Lamp", "Fan"]), .dim(["Lamp"], to: DimLevel(percent: 12.5), over: .seconds(90)),
                .dim(["Fan"], to: DimLevel(percent: 0), over: .zero),
            ])
        #expect(rule.cooldown == .milliseconds(250))
    }

    @Test(
        "A file that is empty or has only comments has no rules",
        arguments: ["", "\n", "# nothing yet\n", "[]", "---\n"])
    func empty(text: String) throws {
        #expect(try rules(text).isEmpty)
    }

    @Test("300 mW is exactly the 0.3 W that a meter reports")
    func exactMilliwatts() throws {
        let rule = try rules(
            "- { rule: A, when: { plug: TV, active power: { rises above: 300 mW } }, then: { toggle: TV } }")[0]
        guard case .activePower(_, let threshold) = rule.triggers[0] else { return }
        #expect(threshold.watts == Double(3) / 10)
    }

    @Test("An alias repeats the anchored value, and text with a star remains text")
    func aliases() throws {
        let text = """
            - rule: "A * B"
              when: &press { plug: TV, button: pressed }
              then: &do
                - turn off: &lamps [Lamp *1, Lamp 2] # *not an alias
                - turn on: TV
            - rule: B
              when: *press
              then: *do
            - rule: C
              when: [*press]
              then: { toggle: *lamps }
            """
        let rules = try rules(text)
        #expect(rules.map(\.name) == ["A * B", "B", "C"])
        #expect(rules[1].actions == rules[0].actions && rules[1].triggers == rules[0].triggers)
        #expect(rules[2].triggers == rules[0].triggers)
        #expect(rules[2].actions == [.toggle(["Lamp *1", "Lamp 2"])])
    }
}
