import PlugModel
import ProtocolCore
import Testing

@testable import Automation

/// Class: who may take a name decides what a rule does.
@Suite("A name means the plug that it was bound to")
struct BoundNameTests {
    private let lamp = HouseBench.ids["Lamp"]!
    private let fan = HouseBench.ids["Fan"]!

    /// The rule has been read, and both plugs have been there.
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

    private func renamed(_ bench: HouseBench) -> [HouseNotice] {
        bench.told.filter { if case .renamed = $0 { true } else { false } }
    }

    @Test("A rename that a person makes is followed, and told once") func rename() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.appear("Lounge", at: 1, id: lamp)
        bench.press("Hall", 1, at: 2)
        bench.settle(at: 2)
        #expect(bench.sent.map(\.plug) == ["Lounge"])
        #expect(renamed(bench) == [.renamed(plug: "Lounge", id: lamp, before: "Lamp", rules: [HouseBench.toggle.name])])
    }

    @Test("The next process still knows which plug is meant") func restart() throws {
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

    @Test("Another plug that takes the name is not commanded") func foreign() {
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

    @Test("A plug that is not paired any more leaves the name to its successor") func replaced() {
        var bench = bench()
        leave("Lamp", &bench, at: 1)
        bench.feed(.paired([fan: "Lamp", HouseBench.ids["Hall"]!: "Hall"]), at: 2)
        bench.appear("Lamp", at: 2, id: fan)
        bench.press("Hall", 1, at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
        #expect(bench.rules.memory.names["Lamp"] == fan)
    }

    @Test("A name that no rule says any more is free") func edited() {
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

    @Test("Of two paired plugs with one name neither is guessed, whether one is away or not", arguments: [false, true])
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

    @Test("The name of a paired plug that is away means no plug whose name differs in capitals") func away() {
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

    @Test("A spelling that fits two paired plugs is ambiguous while one of them is away") func ambiguousSpelling() {
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

    @Test("A process that does not know the paired plugs yet binds no name in a different spelling of capitals")
    func restartWithoutList() throws {
        var before = HouseBench(of: [])
        before.appear("lamp", at: 0, id: fan)
        before.settle(at: 1)
        var bench = HouseBench(HouseBench.toggle, memory: try #require(before.stored.last), at: 10)
        #expect(bench.rules.memory.names["Lamp"] == nil)
        bench.feed(.paired([lamp: "Lamp", fan: "lamp"]), at: 10)
        #expect(bench.rules.memory.names["Lamp"] == lamp)
    }

    @Test("A command that is kept for a paired plug that is away goes to no plug whose name differs in capitals")
    func keptCommand() {
        var rule = Rule.button(.turnOn(["Lamp"]))
        rule.remembersAway = .seconds(3600)
        var bench = HouseBench(rule)
        bench.feed(.paired([lamp: "Lamp", fan: "lamp", HouseBench.ids["Hall"]!: "Hall"]), at: 0)
        bench.appear("Hall", at: 0)
        bench.press("Hall", 1, at: 5)
        bench.settle(at: 5)
        #expect(bench.rules.memory.wishes.map(\.plug) == [lamp])
        bench.appear("lamp", at: 6, id: fan)
        bench.settle(at: 6)
        #expect(bench.sent.isEmpty)
        bench.appear("Lamp", at: 7)
        bench.settle(at: 7)
        #expect(bench.sent.map(\.plug) == ["Lamp"])
    }

    @Test("A script that says a name means the plug too") func script() {
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
