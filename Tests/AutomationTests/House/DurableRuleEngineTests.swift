import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Durable rules of a house")
struct HouseRulesTests {
    private let on = PlugCommand.setRelay(on: true, autoOff: nil)
    private let off = PlugCommand.setRelay(on: false, autoOff: nil)

    private func settled() -> HouseBench {
        var bench = HouseBench(HouseBench.toggle)
        bench.appear("Hall", at: 0)
        bench.appear("Lamp", at: 0)
        bench.settle(at: 0)
        _ = bench.done()
        return bench
    }

    @Test("A firing is stored and then reported; then its command is sent, and its event is acknowledged")
    func order() throws {
        var bench = settled()
        bench.press("Hall", 5, at: 1)
        guard case .store(let memory)? = bench.actions.first, bench.actions.count == 1 else {
            Issue.record("\(bench.actions)")
            return
        }
        #expect(memory.cursors == [HouseBench.ids["Hall"]!: 5])
        let command = try #require(memory.commands.first)
        #expect(command.event == 5 && command.rule == "By button" && command.until == .at(11))
        _ = bench.done()
        bench.feed(.stored, at: 1.005)
        guard bench.actions.count == 4, case .tell(.firing(let firing)) = bench.actions[0] else {
            Issue.record("\(bench.actions)")
            return
        }
        #expect(firing.cause.event == 5)
        let rest: [DurableRuleAction] = [
            .tell(.commanded(command.request, firing)), .send(command.request), .acknowledge(plug: "Hall", 5),
        ]
        #expect(Array(bench.actions[1...]) == rest)
        #expect(bench.rules.isStored)
    }

    @Test("A replay of thousands of events causes one write, a tenth of a second after the first event")
    func replay() {
        var bench = settled()
        for sequence in 1...5000 as ClosedRange<SequenceNumber> {
            bench.press("Hall", sequence, age: .seconds(60), at: 1)
        }
        #expect(bench.heldBack.count == 5000 && bench.stored.isEmpty)
        #expect(bench.rules.nextDeadline == .at(1.1))
        bench.feed(.deadlineReached, at: 1.1)
        #expect(bench.stored.map { $0.cursors[HouseBench.ids["Hall"]!] } == [5000])
        _ = bench.done()
        bench.feed(.stored, at: 1.2)
        #expect(bench.actions == [.acknowledge(plug: "Hall", 5000)])
        #expect(bench.rules.nextDeadline == nil)
    }

    @Test("Events during a write share the next write")
    func group() {
        var bench = settled()
        for sequence in 1...10 as ClosedRange<SequenceNumber> { bench.press("Hall", sequence, at: 1) }
        #expect(bench.stored.count == 1)
        bench.feed(.stored, at: 1.2)
        #expect(
            bench.stored.count == 2 && bench.sent.isEmpty,
            "a command that was replaced before it was stored must not be sent")
        bench.feed(.stored, at: 1.4)
        #expect(bench.stored.count == 2)
        #expect(bench.sent.map(\.command) == [off], "after ten toggles the last command turns the lamp off")
        #expect(bench.refusals == Array(repeating: DurableRuleEngine.overtaken, count: 9))
    }

    @Test("A plug gets a limited number of commands at a time, and the next one after each answer")
    func flight() {
        var memory = settled().rules.memory
        var random = SeededRandom(seed: 3)
        for number in 0..<20 {
            // None of these commands replaces an earlier one.
            let request = CommandRequest(
                id: RequestID(drawnFrom: &random), plug: "Lamp",
                command: number % 2 == 0 ? .identify : .resetProtection)
            memory.commands.append(
                .init(
                    request: request, plug: HouseBench.ids["Lamp"]!, rule: "By button", cause: "pressed", event: nil,
                    until: .at(10)))
        }
        var bench = HouseBench(HouseBench.toggle, memory: memory, at: 1)
        bench.appear("Lamp", at: 1)
        #expect(bench.sent.count == PlugWire.requestsInFlight)
        let first = bench.sent
        for (index, request) in first.enumerated() {
            bench.feed(.commandFinished(request.id, .done(PlugState(relayOn: index % 2 == 0), event: nil)), at: 1.2)
        }
        #expect(bench.sent.map(\.command) == (0..<20).map { $0 % 2 == 0 ? .identify : .resetProtection })
    }

    @Test("A command without an answer expires at its deadline; toggle ignores an expired command")
    func expiry() {
        var bench = settled()
        bench.press("Hall", 1, at: 1)
        bench.feed(.stored, at: 1)
        let id = bench.sent[0].id
        #expect(bench.rules.nextDeadline == .at(11))
        bench.feed(.deadlineReached, at: 11)
        #expect(bench.actions.contains(.withdraw(id)))
        #expect(bench.refusals == [Refusal(.deadlinePassed, "the plug did not answer in time")])
        // An answer after the deadline changes nothing.
        let count = bench.actions.count
        bench.feed(.commandFinished(id, .done(PlugState(relayOn: true), event: 1)), at: 11)
        #expect(bench.actions.count == count)
        bench.feed(.deadlineReached, at: 11.1)
        #expect(bench.stored.last?.commands == [])
        bench.feed(.stored, at: 11.1)
        bench.press("Hall", 2, at: 12)
        bench.feed(.stored, at: 12)
        #expect(bench.sent.map(\.command) == [on, on])
    }

    @Test("A command that is stored only after its deadline is not sent")
    func slowDisk() {
        var bench = settled()
        bench.press("Hall", 1, at: 1)
        bench.feed(.deadlineReached, at: 11)
        bench.feed(.stored, at: 12)
        #expect(bench.sent.isEmpty)
        #expect(bench.refusals == [Refusal(.deadlinePassed, "it could not be sent in time")])
    }

    @Test("Commands beyond the limit are refused and reported, and the memory does not grow")
    func commandLimit() {
        var memory = settled().rules.memory
        var random = SeededRandom(seed: 3)
        for _ in 0..<StoredRuleState.maximumCommands {
            let request = CommandRequest(id: RequestID(drawnFrom: &random), plug: "Fan", command: on)
            memory.commands.append(
                .init(
                    request: request, plug: HouseBench.ids["Fan"]!, rule: "By button", cause: "pressed", event: nil,
                    until: .at(10)))
        }
        var bench = HouseBench(HouseBench.toggle, memory: memory, at: 1)
        bench.appear("Lamp", at: 1)
        bench.appear("Hall", at: 1)
        bench.press("Hall", 1, at: 1)
        bench.feed(.stored, at: 1)
        #expect(bench.rules.memory.commands.count == StoredRuleState.maximumCommands)
        #expect(bench.refusals.map(\.code) == [.busy])
    }

    @Test("A failing disk is reported once and blocks no command; its recovery is reported")
    func failingDisk() {
        var bench = settled()
        for sequence in 1...3 as ClosedRange<SequenceNumber> {
            bench.press("Hall", sequence, at: Double(sequence))
            bench.feed(.storeFailed(reason: "no room"), at: Double(sequence))
        }
        bench.press("Hall", 4, at: 4)
        bench.feed(.stored, at: 4)
        #expect(bench.sent.count == 4)
        let storage = bench.told.filter { $0 == .notStored(reason: "no room") || $0 == .stored }
        #expect(storage == [.notStored(reason: "no room"), .stored])
    }

    // MARK: The next process

    /// The memory on the disk if the process died after the press at 1 s was stored.
    private func remembered() -> StoredRuleState {
        var bench = settled()
        bench.press("Hall", 5, at: 1)
        return bench.stored[0]
    }

    @Test("A stored command is sent again when its plug is back, under the plug's current name")
    func resumed() {
        let memory = remembered()
        var bench = HouseBench(HouseBench.toggle, memory: memory, at: 3)
        bench.appear("Lampe", at: 4, id: HouseBench.ids["Lamp"]!)
        #expect(bench.told.last == .resumed(memory.commands[0]))
        #expect(bench.sent.map(\.id) == [memory.commands[0].request.id] && bench.sent[0].plug == "Lampe")
        bench.appear("Lampe", at: 4.1, id: HouseBench.ids["Lamp"]!)
        #expect(bench.sent.count == 1, "the second connection of the plug sent the command again")
    }

    @Test("A stored command is refused at its deadline if its plug is not back")
    func forgotten() {
        var bench = HouseBench(HouseBench.toggle, memory: remembered(), at: 3)
        bench.appear("Hall", at: 3)
        #expect(bench.rules.nextDeadline == .at(3.1))
        bench.feed(.deadlineReached, at: 11)
        #expect(bench.refusals.map(\.code) == [.deadlinePassed])
        bench.appear("Lamp", at: 11.5)
        #expect(bench.sent.isEmpty)
    }

    @Test("The next process handles only events after the stored cursor; a gap advances the cursor and is reported")
    func cursor() {
        var bench = HouseBench(HouseBench.toggle, memory: remembered(), at: 3)
        bench.appear("Lamp", at: 3)
        bench.appear("Hall", at: 3)
        for sequence in [4, 5] as [SequenceNumber] { bench.press("Hall", sequence, at: 3) }
        #expect(bench.heldBack.isEmpty && bench.rules.memory.commands.count == 1)
        let gap = Gap(from: 6, to: 9, reason: .powerLost)
        bench.feed(.gap(plug: "Hall", gap), at: 3)
        #expect(bench.told.last == .gap(plug: "Hall", gap))
        bench.press("Hall", 9, at: 3)
        bench.press("Hall", 10, at: 3)
        #expect(bench.rules.memory.commands.map(\.event) == [5, 10])
    }

    @Test("After the process has started, a press waits for the lamp that its rule names")
    func assembly() {
        var bench = HouseBench(HouseBench.toggle, memory: settled().rules.memory, at: 3)
        bench.appear("Hall", at: 3)
        bench.press("Hall", 6, age: .seconds(2), at: 3)
        #expect(bench.rules.memory.commands.isEmpty && bench.heldBack.isEmpty)
        bench.appear("Lamp", at: 4)
        #expect(bench.rules.memory.commands.map(\.event) == [6])
    }

    @Test("A press waits at most three seconds for a missing plug, and its age grows meanwhile")
    func assemblyEnds() {
        var bench = HouseBench(HouseBench.toggle, memory: settled().rules.memory, at: 3)
        bench.appear("Hall", at: 3)
        bench.press("Hall", 6, age: .seconds(1), at: 3)
        bench.press("Hall", 7, age: .seconds(3), at: 3)
        bench.feed(.deadlineReached, at: 6)
        guard
            case .tell(.firing(let firing)) = bench.actions.first(where: {
                if case .tell(.firing) = $0 { true } else { false }
            })
        else {
            Issue.record("\(bench.actions)")
            return
        }
        #expect(firing.cause.event == 6)
        #expect(bench.told.contains(.notSent(firing, plug: "Lamp", .notPresent)))
        #expect(bench.heldBack == [7])
    }

    @Test("Plugs that no rule names are not awaited; a waiting press is handled when its plug disconnects")
    func assemblyOfOthers() {
        var memory = settled().rules.memory
        memory.meet(HouseBench.ids["Fan"]!, "Fan")
        var bench = HouseBench(HouseBench.toggle, memory: memory, at: 3)
        bench.appear("Lamp", at: 3)
        bench.appear("Hall", at: 3)
        bench.press("Hall", 6, at: 3)
        #expect(bench.rules.memory.commands.count == 1)

        bench = HouseBench(HouseBench.toggle, memory: memory, at: 3)
        bench.appear("Hall", at: 3)
        bench.press("Hall", 6, at: 3)
        bench.feed(.disconnected(plug: "Hall"), at: 3.5)
        #expect(bench.told.contains { if case .notSent(_, "Lamp", .notPresent) = $0 { true } else { false } })
    }

    @Test("A cooldown is stored and continues in the next process")
    func cooldown() {
        let rule = Rule.button(.turnOn(["Lamp"]), cooldown: .seconds(60))
        var bench = HouseBench(rule)
        bench.appear("Hall", at: 0)
        bench.appear("Lamp", at: 0)
        bench.press("Hall", 1, at: 1)
        bench.settle(at: 1)
        let memory = bench.stored.last!
        #expect(memory.engine.fired == ["By button": [.at(1)]])
        var next = HouseBench(rule, memory: memory, at: 2)
        next.appear("Hall", at: 2)
        next.appear("Lamp", at: 2)
        next.press("Hall", 2, at: 60.9)
        #expect(next.heldBack == [2])
        next.press("Hall", 3, at: 61)
        #expect(next.heldBack == [2])
    }

    @Test("At the limit of plugs, a new plug replaces the one that connected longest ago")
    func plugLimit() {
        var bench = HouseBench(HouseBench.toggle)
        bench.appear("Hall", at: 0)
        var random = SeededRandom(seed: 1)
        for _ in 0..<StoredRuleState.maximumPlugs {
            let id = PlugID(drawnFrom: &random)
            bench.feed(.connected(plug: id.rawValue, id: id, boot: BootID(bytes: 0..<16)!), at: 1)
        }
        #expect(bench.rules.memory.plugs.count == StoredRuleState.maximumPlugs)
        #expect(bench.rules.memory.plugs.allSatisfy { $0.id != HouseBench.ids["Hall"] })
    }
}
