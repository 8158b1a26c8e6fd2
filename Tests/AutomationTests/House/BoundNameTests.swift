import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// Attack class: an attacker who can name a plug redirects the commands of a rule to this plug.
@Suite("Rules address the plug to which a name is bound")
struct BoundNameTests {
    private let lamp = HouseBench.ids["Lamp"]!
    private let fan = HouseBench.ids["Fan"]!

    /// A house with this rule, in which the plugs Hall and Lamp are connected.
    private func bench(_ rule: Rule = HouseBench.toggle) -> HouseBench {
        var bench = HouseBench(rule)
        bench.appear("Hall", at: 0)
        bench.appear("Lamp", at: 0)
        bench.settle(at: 0)
        return bench
    }

    private func leave(_ plug: String, _ bench: inout HouseBench, at seconds: Double) {
        bench.feed(.disconnected(plug: plug), at: seconds)
        bench.feed(.lost(plug: plug), at: seconds)
    }

    private func renamed(_ bench: HouseBench) -> [RuleNotice] {
        bench.told.filter { if case .renamed = $0 { true } else { false } }
    }

    @Test("Rules follow a rename by the user, which is reported once")
    func rename() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.appear("Lounge", at: 1, id: lamp)
        bench.press("Hall", 1, at: 2)
        bench.settle(at: 2)
        #expect(bench.sent.map(\.plug) == ["Lounge"])
        #expect(renamed(bench) == [.renamed(plug: "Lounge", id: lamp, before: "Lamp", rules: [HouseBench.toggle.name])])
    }

    @Test("The next process keeps the binding of the name")
    func restart() throws {
        var before = bench()
        leave("Lamp", &before, at: 1)
        before.appear("Lounge", at: 1, id: lamp)
        before.settle(at: 2)
        var bench = HouseBench(HouseBench.toggle, memory: try #require(before.stored.last), at: 10)
        bench.appear("Hall", at: 10)
        bench.appear("Lounge", at: 10, id: lamp)
        bench.press("Hall", 1, at: 11)
        bench.settle(at: 11)
        #expect(bench.sent.map(\.plug) == ["Lounge"])
        #expect(renamed(bench).isEmpty)
    }

    @Test("A different plug that takes over the name gets no commands")
    func foreign() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.appear("Lamp", at: 2, id: fan)
        bench.press("Hall", 1, at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.isEmpty)
        let unsent = bench.told.compactMap { notice -> UnsentReason? in
            if case .notSent(_, "Lamp", let reason) = notice { reason } else { nil }
        }
        #expect(unsent == [.notPresent])
        bench.appear("Lounge", at: 4, id: lamp)
        bench.press("Hall", 2, at: 5)
        bench.settle(at: 5)
        #expect(bench.sent.map(\.plug) == ["Lounge"])
    }

    @Test("If the plug of a bound name is no longer paired, the name is bound to the next plug with this name")
    func replaced() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.feed(.paired([fan: "Lamp", HouseBench.ids["Hall"]!: "Hall"]), at: 2)
        bench.appear("Lamp", at: 2, id: fan)
        bench.press("Hall", 1, at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
        #expect(bench.rules.memory.names["Lamp"] == fan)
    }

    @Test("A name that no rule uses any longer is unbound")
    func edited() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.appear("Lounge", at: 1, id: lamp)
        bench.feed(.rulesChanged([.button(.toggle(["Lounge"]))]), at: 2)
        bench.appear("Lamp", at: 3, id: fan)
        bench.feed(.rulesChanged([HouseBench.toggle]), at: 4)
        bench.press("Hall", 1, at: 5)
        bench.settle(at: 5)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
        #expect(bench.rules.memory.names["Lamp"] == fan)
    }

    @Test("A name shared by two paired plugs is ambiguous, even if one is disconnected", arguments: [false, true])
    func shared(isAlone: Bool) {
        var bench = HouseBench(HouseBench.toggle)
        let names = [lamp, fan].map { $0.distinguishing("Lamp") }
        bench.appear("Hall", at: 0)
        bench.appear(names[0], at: 0, id: lamp)
        if !isAlone { bench.appear(names[1], at: 0, id: fan) }
        bench.press("Hall", 1, at: 1)
        bench.settle(at: 1)
        #expect(bench.sent.isEmpty)
        let unsent = bench.told.compactMap { notice -> UnsentReason? in
            if case .notSent(_, "Lamp", let reason) = notice { reason } else { nil }
        }
        #expect(unsent == [.ambiguous(isAlone ? [names[0]] : names)])
        bench.feed(.rulesChanged([.button(.toggle([names[0]]))]), at: 2)
        bench.press("Hall", 2, at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.map(\.plug) == [names[0]])
    }

    @Test("The name of a disconnected paired plug does not match a connected plug whose name differs only in capitals")
    func away() {
        let paired = [lamp: "Lamp", fan: "lamp", HouseBench.ids["Hall"]!: "Hall"]
        var bench = HouseBench(HouseBench.toggle)
        bench.feed(.paired(paired), at: 0)
        bench.appear("Hall", at: 0)
        bench.appear("lamp", at: 0, id: fan)
        bench.press("Hall", 1, at: 5)
        bench.settle(at: 5)
        #expect(bench.sent.isEmpty)
        #expect(bench.rules.memory.names["Lamp"] == lamp, "the name is bound before the plug was ever present")
        bench.appear("Lamp", at: 6)
        bench.press("Hall", 2, at: 7)
        bench.settle(at: 7)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
    }

    @Test("A spelling that matches two paired plugs is ambiguous even while one plug is disconnected")
    func ambiguousSpelling() {
        var bench = HouseBench(.button(.toggle(["LAMP"])))
        bench.feed(.paired([lamp: "Lamp", fan: "lamp", HouseBench.ids["Hall"]!: "Hall"]), at: 0)
        bench.appear("Hall", at: 0)
        bench.appear("lamp", at: 0, id: fan)
        bench.press("Hall", 1, at: 5)
        bench.settle(at: 5)
        #expect(bench.sent.isEmpty)
        let unsent = bench.told.compactMap { notice -> UnsentReason? in
            if case .notSent(_, "LAMP", let reason) = notice { reason } else { nil }
        }
        #expect(unsent == [.ambiguous(["Lamp", "lamp"])])
        #expect(bench.rules.memory.names["LAMP"] == nil)
    }

    @Test("A process without the list of paired plugs does not bind names that differ in capitals")
    func restartWithoutList() throws {
        var before = HouseBench(of: [])
        before.appear("lamp", at: 0, id: fan)
        before.settle(at: 1)
        var bench = HouseBench(HouseBench.toggle, memory: try #require(before.stored.last), at: 10)
        #expect(bench.rules.memory.names["Lamp"] == nil)
        bench.feed(.paired([lamp: "Lamp", fan: "lamp"]), at: 10)
        #expect(bench.rules.memory.names["Lamp"] == lamp)
    }

    @Test("A command remembered for a disconnected plug is not sent to a plug whose name differs in capitals")
    func keptCommand() {
        var rule = Rule.button(.turnOn(["Lamp"]))
        rule.remembersAway = .seconds(3600)
        var bench = HouseBench(rule)
        bench.feed(.paired([lamp: "Lamp", fan: "lamp", HouseBench.ids["Hall"]!: "Hall"]), at: 0)
        bench.appear("Hall", at: 0)
        bench.press("Hall", 1, at: 5)
        bench.settle(at: 5)
        #expect(bench.rules.memory.deferred.map(\.plug) == [lamp])
        bench.appear("lamp", at: 6, id: fan)
        bench.settle(at: 6)
        #expect(bench.sent.isEmpty)
        bench.appear("Lamp", at: 7)
        bench.settle(at: 7)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
    }

    @Test("Names in scripts are bound to plugs too")
    func script() {
        let handler = ScriptHandler(script: "hall.lua", index: 0)
        var bench = bench(.button(.call(handler)))
        leave("Lamp", &bench, at: 1)
        bench.appear("Lounge", at: 1, id: lamp)
        bench.press("Hall", 1, at: 2)
        bench.settle(at: 2)
        let asked = bench.actions.compactMap { action -> (ScriptCall, [PlugView])? in
            if case .call(let call, let plugs) = action { (call, plugs) } else { nil }
        }
        #expect(asked.first?.1.map(\.name).contains("Lamp") == true)
        guard let call = asked.first?.0 else { return }
        var answer = ScriptAnswer()
        answer.actions = [.turnOn(["Lamp"])]
        bench.feed(.callFinished(call.id, .answered(answer)), at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.map(\.plug) == ["Lounge"])
    }
}
