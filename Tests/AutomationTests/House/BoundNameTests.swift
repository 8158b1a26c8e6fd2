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
        bench.feed(.paired([fan, HouseBench.ids["Hall"]!]), at: 2)
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
