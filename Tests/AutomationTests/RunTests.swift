import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite("Runs: waits, modes, restore, effects")
struct RunTests {
    private static func fan(_ mode: RuleMode = .single) -> Rule {
        var rule = Rule.button(.turnOn(["Fan"]), .wait(.seconds(60)), .turnOff(["Fan"]))
        rule.mode = mode
        return rule
    }

    private static func house(_ rules: Rule...) -> VirtualHouse {
        var house = VirtualHouse(rules)
        for plug in ["Hall", "Fan"] { house.appear(plug, on: false, at: 0) }
        return house
    }

    @Test("A run waits between actions; in single mode, later firings are held back meanwhile")
    func single() {
        var house = Self.house(Self.fan())
        house.press("Hall", 1, at: 1)
        house.press("Hall", 2, at: 30)
        house.run(to: 200)
        #expect(house.commands == ["1.0 Fan: on", "61.0 Fan: off"])
        #expect(house.heldBack == ["30.0 By button: the previous firing is not finished"])
        #expect(house.steps == ["1.0 waits", "61.0 done"])
    }

    @Test(
        """
        A further firing ends the earlier run in mode restart, waits for its end in mode queued, and runs at the same \
        time in mode parallel, up to a limit
        """
    )
    func modes() {
        var restart = Self.house(Self.fan(.restart))
        var queued = Self.house(Self.fan(.queued(atMost: 1)))
        var parallel = Self.house(Self.fan(.parallel(atMost: 2)))
        for (number, second) in [1, 30, 40].enumerated() {
            restart.press("Hall", UInt64(number + 1), at: Double(second))
            queued.press("Hall", UInt64(number + 1), at: Double(second))
            parallel.press("Hall", UInt64(number + 1), at: Double(second))
        }
        restart.run(to: 300)
        queued.run(to: 300)
        parallel.run(to: 300)
        #expect(restart.commands == ["1.0 Fan: on", "30.0 Fan: on", "40.0 Fan: on", "100.0 Fan: off"])
        #expect(restart.steps.contains("30.0 cancelled: the rule fired again"))
        #expect(queued.commands == ["1.0 Fan: on", "61.0 Fan: off", "61.0 Fan: on", "121.0 Fan: off"])
        #expect(queued.heldBack == ["40.0 By button: 2 previous firings are not finished"])
        #expect(parallel.commands == ["1.0 Fan: on", "30.0 Fan: on", "61.0 Fan: off", "90.0 Fan: off"])
    }

    @Test("A run that waits for a condition continues when it holds; at the timeout the run stops or continues as set")
    func waitUntil() {
        func rule(_ end: RuleAction.Timeout) -> Rule {
            .button(
                .waitUntil(.activePower(plug: "Fan", .below(5)), timeout: .seconds(20), end), .turnOff(["Fan"]))
        }
        for (end, commands) in [(RuleAction.Timeout.stop, 1), (.goOn, 2)] {
            var house = Self.house(rule(end))
            house.read("Fan", 50, at: 1)
            house.press("Hall", 1, at: 2)
            house.read("Fan", 40, at: 3)
            house.read("Fan", 4, at: 4)
            #expect(house.commands == ["4.0 Fan: off"])
            house.read("Fan", 50, at: 5)
            house.press("Hall", 2, at: 6)
            house.run(to: 60)
            #expect(house.commands.count == commands)
        }
    }

    @Test("A restored run ends if it is more than a day late or its rule was changed")
    func ended() {
        var house = Self.house(Self.fan())
        house.press("Hall", 1, at: 1)
        var late = RuleEngine(rules: house.engine.rules, memory: house.engine.memory)
        let actions = late.handle(.deadlineReached, now: .at(61) + RuleEngine.longestLate + .nanoseconds(1))
        #expect(actions.contains { if case .step(_, .cancelled(.missed)) = $0 { true } else { false } })
        house.restart([.button(.turnOn(["Fan"]), .wait(.seconds(61)), .turnOff(["Fan"]))])
        house.run(to: 100)
        #expect(house.steps.last == "1.0 cancelled: the rule was changed" && house.commands.count == 1)
    }

    @Test("A turn-off that was due while the daemon was down is sent when the plug appears")
    func lateOff() {
        var house = Self.house(Self.fan())
        house.press("Hall", 1, at: 1)
        let memory = house.engine.memory
        var next = RuleEngine(rules: house.engine.rules, memory: memory)
        #expect(next.handle(.deadlineReached, now: .at(3600)).isEmpty)
        let state = PlugState(relayOn: true)
        let actions = next.handle(.plugAppeared(plug: "Fan", state: state), now: .at(3603))
        let requests = actions.compactMap { action -> CommandRequest? in
            guard case .send(let request, _) = action else { return nil }
            return request
        }
        house.run(to: 61)
        #expect(requests == [house.requests[1]])
    }

    @Test("After a restart, a wait and a queue resume once their plugs are connected, or after a minute")
    func restored() {
        let absent = Condition.not(.activePower(plug: "Fan", .above(5)))
        let rule = Rule.button(.waitUntil(absent, timeout: .seconds(600), .stop), .turnOff(["Hall"]))
        var house = Self.house(rule)
        house.read("Fan", 50, at: 1)
        house.press("Hall", 1, at: 2)
        house.restart()
        house.clock(12, at: 10)
        house.appear("Hall", at: 11)
        #expect(house.commands.isEmpty && house.engine.nextDeadline == .at(10) + RuleEngine.reunion)
        house.appear("Fan", watts: 50, at: 12)
        #expect(house.engine.nextDeadline == .at(602))
        house.read("Fan", 4, at: 20)
        #expect(house.commands == ["20.0 Hall: off"])

        var alone = Self.house(rule)
        alone.read("Fan", 50, at: 1)
        alone.press("Hall", 1, at: 2)
        alone.restart()
        alone.appear("Hall", at: 11)
        alone.run(to: 100)
        #expect(alone.commands == ["71.0 Hall: off"])

        let over = RuleAction.waitUntil(.relay(plug: "Lamp", on: true), timeout: .seconds(5), .goOn)
        var late = Self.house(.button(over, .turnOff(["Fan"])))
        late.press("Hall", 1, at: 1)
        late.restart()
        late.appear("Fan", at: 30)
        #expect(late.commands == ["30.0 Fan: off"])

        var queued = Rule.button(.turnOn(["Fan", "Hall"]), .wait(.seconds(60)), .turnOff(["Fan"]))
        queued.mode = .queued(atMost: 2)
        var queue = Self.house(queued)
        queue.press("Hall", 1, at: 1)
        queue.press("Hall", 2, at: 2)
        queue.restart()
        queue.appear("Fan", at: 70)
        #expect(queue.commands.suffix(1) == ["70.0 Fan: off"])
        queue.appear("Hall", at: 75)
        #expect(queue.commands.suffix(2) == ["75.0 Fan: on", "75.0 Hall: on"])
        queue.run(to: 300)
        #expect(queue.commands.last == "135.0 Fan: off" && queue.engine.nextDeadline == nil)
    }

    @Test("Restore returns a plug to the state before the rule, unless another actor switched it since")
    func restore() {
        let off = Rule(name: "Off", triggers: [.button(plug: "Hall", .single)], actions: [.turnOff(["Fan", "Hall"])])
        let back = Rule(name: "Back", triggers: [.button(plug: "Hall", .double)], actions: [.restore(["Fan", "Hall"])])
        var house = VirtualHouse(off, back)
        house.appear("Hall", on: false, at: 0)
        house.appear("Fan", on: true, at: 0)
        house.press("Hall", 1, at: 1)
        house.turn("Fan", on: false, at: 1)
        // The second press changes no plug, so the saved state is kept.
        house.press("Hall", 2, at: 2)
        let ours = RelayCause.controller(name: "this", request: house.requests[0].id)
        house.happened("Fan", 1, .relayChanged(on: false, cause: ours), at: 2)
        house.press("Hall", 3, .double, at: 3)
        #expect(house.commands.suffix(1) == ["3.0 Fan: on"])
        #expect(house.steps == ["3.0 Hall: nothing to restore"])
        house.turn("Fan", on: true, at: 4)
        // A restore does not save a state for a further restore.
        house.press("Hall", 4, .double, at: 4)
        #expect(house.steps.suffix(2) == ["4.0 Fan: nothing to restore", "4.0 Hall: nothing to restore"])
        house.press("Hall", 5, at: 5)
        house.happened("Fan", 2, .relayChanged(on: true, cause: .button), at: 6)
        house.press("Hall", 6, .double, at: 7)
        #expect(house.steps.suffix(2) == ["7.0 Fan: nothing to restore", "7.0 Hall: nothing to restore"])
    }

    @Test("A notification is sent once, with its placeholders replaced")
    func effects() {
        var rule = Rule.television(dwell: .zero)
        rule.actions = [.notify(title: nil, text: "{plug} {value} W {time} {rule} {why} {x} {")]
        var house = VirtualHouse(rule)
        house.appear("Television", watts: 1, at: 0)
        house.clock(20, 15)
        house.read("Television", 83.25, at: 1)
        let words = "Television 83.25 W 20:15 Movie night Television rose above 40 W (now 83.25 W) {x} {"
        #expect(house.effects.map(\.effect) == [.notify(title: "Movie night", text: words)])
    }

    @Test("A hostile plug name is not substituted into commands, and is escaped in JSON")
    func hostileName() {
        let name = "a\"; \\ {rule}\n\u{1b}"
        let bodies = [" {\"plug\": \"{plug}\"}", "[\"{plug}\"]", "{plug} is on"]
        var rule = Rule(name: "Rule", triggers: [.button(plug: name, .single)], actions: [])
        rule.actions = [.run(["sh", "-c", "say {plug}"], timeout: .seconds(1))]
        rule.actions += bodies.map { .webHook(WebHook(url: "http://a", body: $0)) }
        var house = VirtualHouse(rule)
        house.appear(name, at: 0)
        house.press(name, 1, at: 1)
        let escaped = "a\\\"; \\\\ {rule}\\u000a\\u001b"
        let expected = [" {\"plug\": \"\(escaped)\"}", "[\"\(escaped)\"]", "\(name) is on"]
        #expect(
            house.effects.map(\.effect) == [.run(["sh", "-c", "say {plug}"], timeout: .seconds(1))]
                + expected.map { .webHook(WebHook(url: "http://a", body: $0)) })
    }

    @Test("Turning a rule off ends its run and holds back its firings; running it by hand still works")
    func disabled() {
        var house = Self.house(Self.fan())
        house.press("Hall", 1, at: 1)
        house.at(2, .ruleEnabled("By button", false))
        house.press("Hall", 2, at: 3)
        #expect(house.steps.last == "2.0 cancelled: the rule was turned off")
        #expect(house.heldBack == ["3.0 By button: the rule is turned off"])
        house.restart()
        house.appear("Fan", at: 4)
        house.appear("Hall", at: 4)
        house.press("Hall", 3, at: 5)
        #expect(house.heldBack.count == 2)
        house.at(6, .ruleRun("By button", id: RequestID(bytes: 0..<16)!))
        house.run(to: 100)
        #expect(house.commands.suffix(2) == ["6.0 Fan: on", "66.0 Fan: off"])
    }

    @Test("A limit holds firings back; a rule with 'away: remember' stores commands for a disconnected plug")
    func limitAndAway() {
        var rule = Rule.button(.turnOff(["Cellar"]))
        rule.limit = FiringLimit(2, within: .seconds(60))
        rule.remembersAway = .seconds(7200)
        var house = Self.house(rule)
        for number in 1...3 { house.press("Hall", UInt64(number), at: Double(number)) }
        house.press("Hall", 4, at: 61)
        #expect(
            house.firings.count == 3
                && house.heldBack == ["3.0 By button: the rule has already fired 2 times within 1 min"])
        let remembered = house.log.compactMap { item -> CommandRequest? in
            guard case .remember(let request, _, for: .seconds(7200)) = item.action else { return nil }
            return request
        }
        #expect(remembered.map(\.plug) == ["Cellar", "Cellar", "Cellar"])
    }
}
