import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Commands whose plug disconnects or changes its name before it answers")
struct AbsenceTests {
    private static let away = CommandOutcome.refused(Refusal(.deadlinePassed, "the plug is away"))
    private let on = PlugCommand.setRelay(on: true, autoOff: nil)
    private let off = PlugCommand.setRelay(on: false, autoOff: nil)

    /// The fan was turned on, and the command that turns it off was sent at 61 s.
    private func airing() -> HouseBench {
        var bench = HouseBench(.button(.turnOn(["Fan"]), .wait(.seconds(60)), .turnOff(["Fan"])))
        bench.appear("Hall", at: 0)
        bench.appear("Fan", at: 0)
        bench.settle(at: 0)
        bench.press("Hall", 1, at: 1)
        bench.feed(.stored, at: 1)
        bench.feed(.commandFinished(bench.sent[0].id, .done(PlugState(relayOn: true), event: nil)), at: 1.1)
        bench.settle(at: 2)
        bench.feed(.deadlineReached, at: 61)
        bench.feed(.stored, at: 61)
        return bench
    }

    @Test("A turn-off after a wait is sent again when its plug is back within a day", arguments: [true, false])
    func late(goesFirst: Bool) throws {
        var bench = airing()
        let command = try #require(bench.sent.last)
        #expect(command.command == off)
        if goesFirst { bench.feed(.disconnected(plug: "Fan"), at: 62) }
        bench.feed(.commandFinished(command.id, Self.away), at: 62)
        if !goesFirst { bench.feed(.disconnected(plug: "Fan"), at: 62) }
        #expect(bench.sent.count == 2 && bench.refusals.isEmpty && bench.rules.memory.commands.count == 1)
        bench.appear("Fan", on: true, at: 40_000)
        #expect(bench.sent.map(\.id).dropFirst() == [command.id, command.id])
        bench.feed(.commandFinished(command.id, .done(PlugState(relayOn: false), event: nil)), at: 40_001)
        #expect(bench.rules.memory.commands.isEmpty)
    }

    @Test("A command whose plug disconnects before the command is stored is not sent, and is refused at its deadline")
    func gone() {
        var bench = HouseBench(HouseBench.toggle)
        bench.appear("Hall", at: 0)
        bench.appear("Lamp", at: 0)
        bench.settle(at: 0)
        bench.press("Hall", 1, at: 1)
        bench.feed(.disconnected(plug: "Lamp"), at: 1)
        bench.feed(.stored, at: 1)
        #expect(bench.sent.isEmpty && bench.rules.memory.commands.count == 1)
        bench.feed(.deadlineReached, at: 11)
        #expect(bench.refusals == [Refusal(.deadlinePassed, "it could not be sent in time")])
    }

    @Test("The answer of a plug that changed its name is matched to the command")
    func renamed() throws {
        var bench = HouseBench(.button(.toggle(["Lampe"])))
        bench.appear("Hall", at: 0)
        bench.appear("Lampe", at: 0, id: HouseBench.ids["Lamp"]!)
        bench.settle(at: 0)
        bench.press("Hall", 1, at: 1)
        bench.feed(.stored, at: 1)
        let command = try #require(bench.sent.first)
        bench.feed(.disconnected(plug: "Lampe"), at: 1.1)
        bench.appear("LAMPE", at: 1.2, id: HouseBench.ids["Lamp"]!)
        bench.feed(.commandFinished(command.id, .done(PlugState(relayOn: true), event: nil)), at: 1.3)
        bench.settle(at: 2)
        bench.press("Hall", 2, at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.last?.command == off, "toggle uses the answer")
    }

    @Test("A rule that fires while a refusal is handled runs its actions")
    func fires() {
        let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
        let rise = Rule(
            name: "Rise", triggers: [.activePower(plug: "Lamp", threshold)], actions: [.notify(title: nil, text: "on")])
        var bench = HouseBench(of: [HouseBench.toggle, rise])
        bench.appear("Hall", at: 0)
        bench.appear("Lamp", at: 0, reading: 1)
        bench.settle(at: 0)
        bench.press("Hall", 1, at: 1)
        bench.feed(.stored, at: 1)
        for second in 7...10 { bench.read("Lamp", 80, at: Double(second) + 0.5) }
        // The refusal and the end of the dwell are handled in the same event.
        bench.feed(.commandFinished(bench.sent[0].id, .refused(Refusal(.busy, "busy"))), at: 11)
        bench.settle(at: 11)
        let effects = bench.told.filter { if case .performing = $0 { true } else { false } }
        #expect(effects.count == 1)
    }

    @Test("When the list of commands is full, a new command is refused, and a remembered one waits for room")
    func full() {
        var memory = StoredRuleState()
        for (name, id) in HouseBench.ids { memory.meet(id, name) }
        var random = SeededRandom(seed: 3)
        func command(_ plug: String, _ command: PlugCommand, until: Double) -> StoredRuleState.Command {
            let request = CommandRequest(id: RequestID(drawnFrom: &random), plug: plug, command: command)
            return .init(
                request: request, plug: HouseBench.ids[plug]!, rule: "By button", cause: "pressed", event: nil,
                until: .at(until))
        }
        memory.commands = [command("Lamp", on, until: 20)]
        while memory.commands.count < StoredRuleState.maximumCommands {
            memory.commands.append(command("Hall", .identify, until: 10))
        }
        memory.deferred = [command("Fan", on, until: 1000)]
        var bench = HouseBench(HouseBench.toggle, memory: memory, at: 1)
        for plug in ["Lamp", "Hall", "Fan"] { bench.appear(plug, at: 1) }
        #expect(bench.rules.memory.deferred.count == 1)
        bench.press("Hall", 1, at: 2)
        bench.feed(.stored, at: 2)
        #expect(bench.refusals.map(\.code) == [.busy] && bench.rules.memory.commands.count == 1024)
        bench.feed(.deadlineReached, at: 10)
        let rest = bench.rules.memory.commands.map(\.request.plug)
        #expect(bench.rules.memory.deferred.isEmpty && rest == ["Lamp", "Fan"])
    }
}
