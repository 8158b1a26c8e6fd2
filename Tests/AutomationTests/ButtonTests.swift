import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite("Button, names, conditions and cooldown")
struct ButtonTests {
    @Test("Each kind of press fires only its own rules", arguments: ButtonPress.allCases)
    func presses(press: ButtonPress) {
        var house = VirtualHouse(.button(press: press, .turnOff(["Hall"])))
        house.appear("Hall", at: 0)
        for (index, made) in ButtonPress.allCases.enumerated() { house.press("Hall", UInt64(index + 1), made, at: 1) }
        #expect(house.firings == ["1.0 By button"])
        #expect(house.requests.map(\.command) == [.setRelay(on: false, autoOff: nil)])
    }

    @Test("An old press, a press of unknown age and a repeated press do not fire")
    func old() {
        var house = VirtualHouse(.button(.turnOff(["Hall"])))
        house.appear("Hall", at: 0)
        house.press("Hall", 1, age: Rule.usualMaximumAge + .nanoseconds(1), at: 1)
        house.press("Hall", 2, age: nil, at: 1)
        #expect(house.firings.isEmpty)
        let reasons = house.log.map { item -> String in
            guard case .heldBack(_, let reason) = item.action else { return "something else" }
            return "\(reason)"
        }
        #expect(reasons == ["the event is 5 s old", "the event is from before the plug's restart"])
        house.press("Hall", 3, age: Rule.usualMaximumAge, at: 1)
        house.press("Hall", 3, at: 2)
        house.press("Hall", 2, at: 2)
        #expect(house.firings == ["1.0 By button"])
    }

    @Test("A press that a returned plug replays does not fire; a press of a new boot fires despite its lower number")
    func replay() {
        let boots = [UInt8(1), 2].map { BootID(bytes: Array(repeating: $0, count: 16)) }
        var house = VirtualHouse(.button(.turnOff(["Hall"])))
        house.appear("Hall", at: 0, boot: boots[0])
        house.press("Hall", 7, at: 1)
        house.at(2, .plugLost(plug: "Hall"))
        house.press("Hall", 8, at: 2)
        house.appear("Hall", at: 3, boot: boots[0])
        house.press("Hall", 7, age: .seconds(2), at: 3)
        #expect(house.firings == ["1.0 By button"])
        house.appear("Hall", at: 4, boot: boots[1])
        house.press("Hall", 1, at: 5)
        #expect(house.firings == ["1.0 By button", "5.0 By button"])
    }

    @Test("After a gap that resets the sequence numbers, lower numbers fire")
    func lowerNumbers() {
        var house = VirtualHouse(.button(.turnOff(["Hall"])))
        house.appear("Hall", at: 0)
        house.press("Hall", 1 << 44, at: 1)
        house.press("Hall", 8, at: 2)
        house.at(2, .plugLost(plug: "Hall"))
        house.at(3, .gap(plug: "Hall", to: 7))
        house.appear("Hall", at: 3)
        house.press("Hall", 8, at: 4)
        house.press("Hall", 8, at: 5)
        #expect(house.firings == ["1.0 By button", "4.0 By button"])
    }

    @Test("Toggle inverts the state that the last pending command sets, or else the state of the last answer")
    func toggle() throws {
        var house = VirtualHouse(.button(.toggle(["Lamp"])))
        house.appear("Hall", at: 0)
        house.appear("Lamp", on: false, at: 0)
        func commands() -> [PlugCommand] { house.requests.map(\.command) }
        let on = PlugCommand.setRelay(on: true, autoOff: nil)
        let off = PlugCommand.setRelay(on: false, autoOff: nil)
        house.press("Hall", 1, at: 1)
        house.press("Hall", 2, at: 1.1)
        #expect(commands() == [on, off])
        let (first, second) = (house.requests[0].id, house.requests[1].id)
        house.at(
            1.2, .commandFinished(plug: "Lamp", id: first, outcome: .done(PlugState(relayOn: true), event: 1)))
        house.press("Hall", 3, at: 1.3)
        #expect(commands() == [on, off, on])
        let third = house.requests[2].id
        house.at(
            1.4, .commandFinished(plug: "Lamp", id: second, outcome: .done(PlugState(relayOn: false), event: 2)))
        house.at(1.5, .commandFinished(plug: "Lamp", id: third, outcome: .refused(Refusal(.busy, "busy"))))
        house.press("Hall", 4, at: 2)
        #expect(commands() == [on, off, on, on])
    }

    @Test("Toggle uses the relay state after another actor switched it")
    func toggleAfterChange() {
        var house = VirtualHouse(.button(.toggle(["Lamp"])))
        house.appear("Hall", at: 0)
        house.appear("Lamp", on: false, at: 0)
        house.turn("Lamp", on: true, at: 1)
        house.press("Hall", 1, at: 2)
        #expect(house.requests.map(\.command) == [.setRelay(on: false, autoOff: nil)])
        let ours = RelayCause.controller(name: "this", request: house.requests[0].id)
        house.happened("Lamp", 1, .relayChanged(on: false, cause: ours), at: 3)
        house.turn("Lamp", on: false, at: 3)
        house.press("Hall", 2, at: 4)
        #expect(house.requests.last?.command == .setRelay(on: true, autoOff: nil))
    }

    @Test("Dim sends a level with its transition, and actions keep their order")
    func dim() {
        var house = VirtualHouse(
            .button(.dim(["Lamp"], to: DimLevel(percent: 30), over: .seconds(2)), .turnOff(["Hall", "Lamp"])))
        house.appear("Hall", at: 0)
        house.appear("Lamp", at: 0)
        house.press("Hall", 1, at: 1)
        #expect(house.requests.map(\.plug) == ["Lamp", "Hall", "Lamp"])
        #expect(house.requests[0].command == .setLevel(DimLevel(percent: 30), transition: .seconds(2)))
    }

    @Test("An exact name takes precedence; two matches with other capitals are ambiguous; a lost plug is not present")
    func names() {
        var house = VirtualHouse(.button(.turnOn(["Büro Lamp"])))
        house.appear("hall", at: 0)
        house.appear("büro lamp", at: 0)
        house.press("hall", 1, at: 1)
        #expect(house.requests.map(\.plug) == ["büro lamp"])

        house.appear("BÜRO LAMP", at: 2)
        house.press("hall", 2, at: 3)
        #expect(house.requests.count == 1)
        guard case .notSent(_, let plug, let reason) = house.log.last?.action else {
            Issue.record("no action was logged")
            return
        }
        #expect(plug == "Büro Lamp" && reason == .ambiguous(["BÜRO LAMP", "büro lamp"]))

        house.appear("Büro Lamp", at: 4)
        house.press("hall", 3, at: 5)
        #expect(house.requests.last?.plug == "Büro Lamp")

        for name in ["Büro Lamp", "BÜRO LAMP", "büro lamp"] { house.at(6, .plugLost(plug: name)) }
        house.press("hall", 4, at: 7)
        guard case .notSent(_, _, .notPresent) = house.log.last?.action else {
            Issue.record("no action was logged")
            return
        }
    }

    @Test("A trigger that binds to a better matching plug forgets the other plug's power")
    func rebinding() {
        var house = VirtualHouse(.television())
        house.appear("television", watts: 1, at: 0)
        house.appear("Television", at: 1)
        house.read("Television", 80, at: 2)
        house.read("television", 80, at: 3)
        #expect(house.firings.isEmpty)
    }

    @Test("A false relay condition holds the rule back, with the condition as reason")
    func relayCondition() {
        let rule = Rule.button(if: [.relay(plug: "Lamp", on: true)], .turnOff(["Lamp"]))
        var house = VirtualHouse(rule)
        house.appear("Hall", at: 0)
        house.press("Hall", 1, at: 1)
        house.appear("Lamp", on: false, at: 2)
        house.press("Hall", 2, at: 2)
        #expect(house.firings.isEmpty)
        guard case .heldBack(let firing, .condition(let condition)) = house.log.last?.action else {
            Issue.record("no action was logged")
            return
        }
        #expect(firing.cause.event == 2 && firing.cause.source == .trigger(.button(plug: "Hall", .single)))
        #expect(firing.judged == [false])
        #expect(HoldBack.condition(condition).description == "condition does not hold: Lamp is on")
        house.turn("Lamp", on: true, at: 3)
        house.press("Hall", 3, at: 3)
        #expect(house.firings == ["3.0 By button"])
    }

    @Test("A rule is held back until its cooldown ends")
    func cooldown() {
        var house = VirtualHouse(.button(.turnOff(["Hall"]), cooldown: .seconds(10)))
        house.appear("Hall", at: 0)
        for (index, second) in [1, 10.9, 11].enumerated() { house.press("Hall", UInt64(index + 1), at: second) }
        #expect(house.firings == ["1.0 By button", "11.0 By button"])
        #expect(
            house.log.contains {
                guard case .heldBack(_, .cooldown(let until)) = $0.action else { return false }
                return until == .at(11)
            })
    }

    @Test("A restored engine continues the cooldowns of the rules that still exist")
    func cooldownGoesOn() {
        let rule = Rule.button(.turnOff(["Hall"]), cooldown: .seconds(10))
        var house = VirtualHouse(rule)
        house.appear("Hall", at: 0)
        house.press("Hall", 1, at: 1)
        var memory = house.engine.memory
        #expect(memory.fired == ["By button": [.at(1)]])
        memory.fired["Deleted"] = [.at(1)]
        var next = VirtualHouse(rule)
        next.engine = RuleEngine(rules: [rule], memory: memory)
        next.appear("Hall", at: 2)
        for (index, second) in [3, 10.9, 11].enumerated() { next.press("Hall", UInt64(index + 2), at: second) }
        #expect(next.firings == ["11.0 By button"])
    }

    @Test("Toggle uses a command that was pending when the plug appeared")
    func resumed() {
        var house = VirtualHouse(.button(.toggle(["Lamp"])))
        house.appear("Hall", at: 0)
        house.press("Hall", 1, at: 0)
        house.appear("Lamp", on: false, at: 1)
        let id = RequestID(bytes: 0..<16)!
        house.at(
            1, .commandResumed(CommandRequest(id: id, plug: "Lamp", command: .setRelay(on: true, autoOff: nil))))
        house.press("Hall", 2, at: 2)
        #expect(house.requests.map(\.command) == [.setRelay(on: false, autoOff: nil)])
    }

    @Test("Equal presses of two plugs with the same name, one after the other, cause commands with different ids")
    func swappedNames() {
        let ids = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"].map { PlugID(rawValue: $0)! }
        var house = VirtualHouse(.button(.turnOn(["Lamp"])))
        house.appear("Lamp", at: 0)
        for id in ids {
            house.at(1, .plugAppeared(plug: "Hall", state: PlugState(relayOn: false), id: id))
            house.press("Hall", 7, at: 1)
        }
        #expect(Set(house.requests.map(\.id)).count == 2)
    }

    @Test("At the limit of plugs, new plugs are ignored, and presses of known plugs still fire rules")
    func plugLimit() {
        var house = VirtualHouse(.button(.turnOff(["Hall"])))
        house.appear("Hall", at: 0)
        for number in 1...RuleEngine.maximumPlugs { house.appear("Plug \(number)", at: 0) }
        house.appear("Hall", at: 1)
        house.press("Hall", 1, at: 1)
        house.at(1, .reading(plug: "Plug \(RuleEngine.maximumPlugs)", activePower: 1, time: .zero, isSnapshot: false))
        #expect(house.firings == ["1.0 By button"])
    }
}
