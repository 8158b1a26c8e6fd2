import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite("Rules of scripts in the engine")
struct ScriptEngineTests {
    private func house(_ rules: Rule...) -> VirtualHouse {
        var house = VirtualHouse(rules)
        for plug in ["Hall", "Lamp", "Fan"] { house.appear(plug, on: false, at: 0) }
        return house
    }

    @Test("A press requests a call, and the call's id depends only on the press and the rule")
    func call() throws {
        var first = house(.scripted)
        var second = house(.scripted, .timed)
        first.press("Hall", 7, at: 1)
        second.press("Hall", 6, at: 1)
        second.press("Hall", 7, at: 2)
        let call = try #require(first.calls.first)
        #expect(call.handler == ScriptHandler(script: "hall.lua", index: 0) && call.firing.cause.event == 7)
        #expect(first.calls.count == 1 && second.calls.map(\.id).last == call.id && second.calls[0].id != call.id)
    }

    @Test("A rule that only calls a script has no default limit; explicit limits and cooldowns apply")
    func limits() {
        var limited = Rule.script(2, on: .button(plug: "Hall", .single))
        limited.limit = FiringLimit(3, within: .seconds(60))
        var cooled = Rule.script(3, on: .button(plug: "Hall", .single))
        cooled.cooldown = .seconds(10)
        var plain = Rule.button(.notify(title: nil, text: "pressed"))
        plain.name = "Plain"
        var house = house(.scripted, limited, cooled, plain)
        for sequence in 1...1000 as ClosedRange<UInt64> { house.press("Hall", sequence, at: 1) }
        let counts = Dictionary(grouping: house.calls, by: \.handler.index).mapValues(\.count)
        #expect(counts == [0: 1000, 2: 3, 3: 1] && house.effects.count == 60)
    }

    @Test("A script's actions run as a rule's do: toggle uses pending commands")
    func answer() throws {
        var house = house(.scripted)
        house.press("Hall", 1, at: 1)
        let call = try #require(house.calls.first)
        let wanted: [RuleAction] = [
            .toggle(["lamp", "Fan"]), .toggle(["Lamp"]), .notify(title: nil, text: "{why}"),
            .run(["beep"], timeout: .seconds(1)), .turnOn(["Cellar"]),
        ]
        house.at(1.1, .scriptAnswered(call, wanted))
        #expect(house.commands == ["1.1 Lamp: on", "1.1 Fan: on", "1.1 Lamp: off"])
        #expect(house.effects.first?.effect == .notify(title: "hall.lua:1", text: "Hall: button pressed (single)"))
        #expect(house.effects.count == 2 && house.effects.allSatisfy { $0.firing == call.firing })
        let unsent = house.log.filter { $0.action == .notSent(call.firing, plug: "Cellar", .notPresent) }
        #expect(unsent.count == 1)
        let ids = house.requests.map(\.id) + house.effects.map(\.id) + [call.id, call.firing.id]
        #expect(Set(ids).count == ids.count)
    }

    @Test("Equal answers to equal calls cause commands with equal ids in any process")
    func sameIDs() throws {
        var (first, second) = (house(.scripted), house(.scripted, .timed))
        for index in 0..<2 {
            var house = index == 0 ? first : second
            house.press("Hall", 4, at: 1)
            house.at(Double(index) + 2, .scriptAnswered(try #require(house.calls.first), [.turnOn(["Lamp", "Fan"])]))
            if index == 0 { first = house } else { second = house }
        }
        #expect(first.requests.count == 2 && first.requests.map(\.id) == second.requests.map(\.id))
    }

    @Test("A script's rule with 'away: remember' stores commands for a disconnected plug")
    func away() throws {
        var rule = Rule.scripted
        rule.remembersAway = .seconds(3600)
        var house = house(rule)
        house.at(0.5, .plugLost(plug: "Lamp"))
        house.press("Hall", 1, at: 1)
        house.at(1, .scriptAnswered(try #require(house.calls.first), [.turnOn(["Lamp"])]))
        guard case .remember(let request, _, for: .seconds(3600))? = house.log.last?.action else {
            Issue.record("\(house.log)")
            return
        }
        #expect(request.plug == "Lamp")
    }

    @Test("A call can restore what an earlier call changed, even in an earlier process")
    func restore() throws {
        var house = house(.scripted)
        house.press("Hall", 1, at: 1)
        house.at(1, .scriptAnswered(try #require(house.calls.first), [.turnOn(["Lamp"])]))
        let sent = try #require(house.requests.first)
        house.restart()
        for plug in ["Hall", "Lamp"] { house.appear(plug, on: plug == "Lamp", at: 2) }
        let cause = RelayCause.controller(name: "rules", request: sent.id)
        house.happened("Lamp", 1, .relayChanged(on: true, cause: cause), at: 2)
        house.press("Hall", 2, at: 3)
        house.at(3, .scriptAnswered(try #require(house.calls.last), [.restore(["Lamp"])]))
        #expect(house.commands.last == "3.0 Lamp: off")
    }

    @Test("A plug that another actor switched meanwhile is not restored")
    func notRestored() throws {
        var house = house(.scripted)
        house.press("Hall", 1, at: 1)
        house.at(1, .scriptAnswered(try #require(house.calls.first), [.turnOn(["Lamp"])]))
        house.happened("Lamp", 1, .relayChanged(on: true, cause: .button), at: 2)
        house.press("Hall", 2, at: 3)
        house.at(3, .scriptAnswered(try #require(house.calls.last), [.restore(["Lamp"])]))
        #expect(house.requests.count == 1)
    }

    @Test("A timer fires the rules that name it, up to a day late")
    func timer() throws {
        var house = house(.scripted, .timed, .script(2, on: .timer(.lightsOut), .timer(.lightsOut)))
        let call = RequestID(bytes: [UInt8](repeating: 9, count: 16))!
        house.at(1, .timerEnded(.lightsOut, startedBy: call, age: .zero))
        #expect(house.calls.map(\.handler.index) == [1, 2])
        let cause = try #require(house.calls.first?.firing.cause)
        #expect("\(cause)" == "timer \"lights out\" of hall.lua ended" && cause.age == nil)
        house.at(2, .timerEnded(.lightsOut, startedBy: call, age: .seconds(80_000)))
        #expect(house.calls.count == 4 && house.calls[2].firing.cause.age == .seconds(80_000))
        #expect(
            house.calls[2].id == house.calls[0].id,
            "the id must depend only on the rule, the timer and the call that started the timer")
        house.at(3, .timerEnded(.lightsOut, startedBy: call, age: .seconds(90_000)))
        #expect(house.calls.count == 4 && house.heldBack.count == 2)
        house.at(4, .timerEnded(ScriptTimer(script: "hall.lua", name: "x"), startedBy: call, age: .zero))
        house.at(5, .ruleEnabled("hall.lua:2", false))
        house.at(5, .timerEnded(.lightsOut, startedBy: call, age: .zero))
        #expect(house.calls.count == 5 && house.heldBack.last == "5.0 hall.lua:2: the rule is turned off")
    }

    @Test("Scripts see the state that pending commands will set, and no state of a disconnected plug")
    func views() throws {
        var house = house(.scripted)
        house.read("Fan", 12, at: 0.5)
        house.turn("Lamp", on: false, level: DimLevel(percent: 40), at: 0.5)
        house.press("Hall", 1, at: 1)
        house.at(1, .scriptAnswered(try #require(house.calls.first), [.turnOn(["Lamp"])]))
        house.at(1, .plugLost(plug: "Hall"))
        let views = Dictionary(uniqueKeysWithValues: house.engine.views.map { ($0.name, $0) })
        #expect(views["Lamp"]?.isOn == true && views["Lamp"]?.level == DimLevel(percent: 40))
        #expect(views["Fan"]?.activePower == 12 && views["Fan"]?.isOn == false && views["Fan"]?.level == nil)
        #expect(views["Hall"] == PlugView(name: "Hall", isConnected: false))
    }

    @Test("An id that is derived from a key for an action is recognized as a part of this key and of no other key")
    func parts() {
        let seed = FiringSeed("event", rule: "Rule", trigger: 0, plug: "Hall")
        let keys = (0..<50).map { seed.key($0) }
        for key in keys {
            for place in [0, 1, 255] {
                let part = key.part(action: place, plug: place % 64)
                #expect(part.isPart(of: key) && !key.isPart(of: part))
                #expect(!keys.contains { $0 != key && part.isPart(of: $0) } && !part.part(action: 0).isPart(of: key))
            }
        }
    }
}
