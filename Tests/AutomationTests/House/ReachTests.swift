import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Effects, remembered commands and durable state of rules")
struct ReachTests {
    private let on = PlugCommand.setRelay(on: true, autoOff: nil)
    private let off = PlugCommand.setRelay(on: false, autoOff: nil)

    private func settled(_ rules: Rule...) -> HouseBench {
        var bench = HouseBench(of: rules)
        bench.appear("Hall", at: 0)
        bench.settle(at: 0)
        _ = bench.done()
        return bench
    }

    private func performed(_ bench: HouseBench) -> [EffectRequest] {
        bench.actions.compactMap { if case .perform(let request) = $0 { request } else { nil } }
    }

    @Test("An effect is stored before it is performed, and its end is reported")
    func effect() throws {
        var bench = settled(.button(.notify(title: "Hall", text: "pressed")))
        bench.press("Hall", 1, at: 1)
        let stored = try #require(bench.stored.first)
        #expect(performed(bench).isEmpty && stored.effects.count == 1)
        bench.feed(.stored, at: 1.01)
        let request = try #require(performed(bench).first)
        #expect(request == stored.effects[0].request && bench.told.contains(.performing(request)))
        bench.feed(.effectFinished(request.id, .done), at: 2)
        #expect(bench.told.last == .effect(request, .done) && bench.rules.memory.effects.isEmpty)
    }

    @Test("The next process repeats an unfinished effect with the same id, unless its deadline has passed")
    func effectAgain() throws {
        var bench = settled(.button(.run(["beep"], timeout: .seconds(30))))
        bench.press("Hall", 1, at: 1)
        let memory = try #require(bench.stored.first)
        var next = HouseBench(of: [], memory: memory, at: 3)
        next.feed(.clockChanged(LocalTime(pieces: []), .unknown), at: 3)
        #expect(performed(next).map(\.id) == [memory.effects[0].request.id])
        var waiting = next
        waiting.feed(.deadlineReached, at: 632)
        let late = EffectOutcome.failed("it could not start within 630 s because earlier effects took too long")
        #expect(waiting.told.last == .effect(try #require(performed(next).first), late))
        next.feed(.effectBegun(memory.effects[0].request.id), at: 4)
        next.feed(.deadlineReached, at: 632)
        #expect(next.actions.contains(.withdraw(memory.effects[0].request.id)))
        guard case .effect(_, .failed("it did not finish within 630 s")) = next.told.last else {
            Issue.record("\(next.told)")
            return
        }
        var tooLate = HouseBench(of: [], memory: memory, at: 700)
        tooLate.feed(.deadlineReached, at: 700)
        #expect(performed(tooLate).isEmpty)
    }

    @Test("A disconnected plug gets the last remembered command when it is back, even after a restart of the process")
    func deferredCommand() throws {
        var rule = Rule.button(.turnOn(["Lamp"]))
        rule.remembersAway = .seconds(3600)
        var bench = settled(rule)
        for sequence in 1...2 as ClosedRange<SequenceNumber> { bench.press("Hall", sequence, at: Double(sequence)) }
        bench.settle(at: 3)
        #expect(bench.sent.isEmpty && bench.refusals == [DurableRuleEngine.overtaken])
        let memory = try #require(bench.stored.last)
        #expect(memory.deferred.map(\.until) == [.at(3602)])
        var next = HouseBench(of: [rule], memory: memory, at: 1000)
        next.appear("Lamp", at: 1000)
        #expect(next.sent.isEmpty && next.stored.last?.deferred == [] && next.stored.last?.commands.count == 1)
        next.feed(.stored, at: 1000)
        #expect(next.sent.map(\.id) == memory.deferred.map(\.request.id))
        var late = HouseBench(of: [rule], memory: memory, at: 4000)
        late.appear("Lamp", at: 4000)
        late.settle(at: 4001)
        #expect(late.sent.isEmpty && late.refusals.map(\.code) == [.deadlinePassed])
    }

    @Test("A later command replaces an unanswered command of the same kind, but no command of a different kind")
    func overtaken() throws {
        var bench = settled(
            .button(.turnOn(["Lamp"]), .dim(["Lamp"], to: DimLevel(percent: 30), over: .zero)),
            Rule(name: "Off", triggers: [.button(plug: "Hall", .long)], actions: [.turnOff(["Lamp"])]))
        bench.feed(.connected(plug: "Lamp", id: HouseBench.ids["Lamp"]!, boot: HouseBench.boot), at: 1)
        bench.feed(.snapshot(plug: "Lamp", PlugState(relayOn: false, level: .full)), at: 1)
        bench.settle(at: 1)
        bench.press("Hall", 1, at: 2)
        bench.feed(.stored, at: 2)
        #expect(bench.sent.count == 2)
        let first = bench.sent[0]
        bench.press("Hall", 2, .long, at: 3)
        bench.feed(.stored, at: 3)
        #expect(bench.actions.contains(.withdraw(first.id)))
        #expect(bench.refusals == [DurableRuleEngine.overtaken])
        #expect(bench.sent.map(\.command) == [on, .setLevel(DimLevel(percent: 30), transition: .zero), off])
        // The answer of the replaced command, which the plug executed nevertheless, changes nothing.
        let count = bench.actions.count
        bench.feed(.commandFinished(first.id, .done(PlugState(relayOn: true), event: 1)), at: 3)
        #expect(bench.actions.count == count)
    }

    @Test("A dwell is stored within a second of its beginning, and its progress every 30 seconds")
    func dwell() {
        let threshold = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(120))
        var bench = settled(
            Rule(name: "Long", triggers: [.activePower(plug: "Hall", threshold)], actions: [.turnOff(["Hall"])]))
        bench.read("Hall", 5, at: 1)
        var ended = 0
        for second in 2...100 {
            bench.read("Hall", 80, at: Double(second))
            bench.feed(.deadlineReached, at: Double(second) + 0.9)
            while ended < bench.stored.count {
                ended += 1
                bench.feed(.stored, at: Double(second) + 0.9)
            }
        }
        let times = bench.stored.compactMap { $0.engine.dwells.first }
        #expect(times.first?.since == .at(2))
        #expect((3...5).contains(times.count), "\(times.map(\.latest))")
        // The process restarts during the dwell.
        var next = HouseBench(
            of: bench.rules.rules, memory: bench.rules.memory, at: 103)
        next.appear("Hall", on: true, at: 103, reading: 80)
        for second in 104...125 {
            next.read("Hall", 80, at: Double(second))
            next.feed(.deadlineReached, at: Double(second) + 0.5)
            next.settle(at: Double(second) + 0.5)
        }
        let fired = next.told.compactMap { if case .firing(let firing) = $0 { firing.time } else { nil } }
        #expect(fired.count == 1 && fired[0] >= .at(122) && fired[0] <= .at(123))
    }

    @Test("A waiting run is reported after it is stored")
    func waiting() throws {
        var bench = settled(.button(.wait(.seconds(60)), .turnOff(["Hall"])))
        bench.press("Hall", 1, at: 1)
        #expect(bench.told.isEmpty && bench.stored.last?.engine.runs.count == 1)
        bench.feed(.stored, at: 1.1)
        guard case .firing = bench.told.first, case .step(_, .waiting(until: .at(61))) = bench.told.last else {
            Issue.record("\(bench.told)")
            return
        }
    }

    @Test("The time up to which energy was counted is stored every 30 seconds, and at a stop")
    func listening() throws {
        let threshold = EnergyThreshold(2000, since: .on)
        var bench = settled(
            Rule(name: "Much", triggers: [.activeEnergy(plug: "Hall", threshold)], actions: [.turnOff(["Hall"])]))
        bench.feed(.clockChanged(LocalTime(pieces: [.init(from: .zero, offset: 0)]), .unknown), at: 1)
        bench.settle(at: 1)
        _ = bench.done()
        for second in 2...100 {
            bench.read("Hall", 80, at: Double(second))
            bench.feed(.deadlineReached, at: Double(second) + 0.9)
            if !bench.rules.isStored { bench.feed(.stored, at: Double(second) + 0.9) }
        }
        let times = bench.stored.compactMap(\.engine.judgedUntil)
        #expect((3...5).contains(times.count), "\(times)")
        bench.read("Hall", 80, at: 101)
        bench.settle(at: 101.5)
        #expect(try #require(bench.stored.last?.engine.judgedUntil) >= .at(101))
    }

    @Test("A rule that was turned off stays off in the next process; the names of added and removed rules are reported")
    func rules() throws {
        var bench = settled(.button(.turnOn(["Hall"])))
        bench.feed(.ruleEnabled("By button", false), at: 1)
        #expect(bench.told.isEmpty)
        bench.feed(.stored, at: 1)
        #expect(bench.told == [.ruleEnabled("By button", false)])
        bench.press("Hall", 1, at: 2)
        #expect(bench.heldBack == [1])
        var next = HouseBench(of: bench.rules.rules, memory: try #require(bench.stored.last), at: 3)
        #expect(next.rules.disabled == ["By button"])
        let other = Rule(name: "Other", triggers: [.button(plug: "Hall", .long)], actions: [.turnOn(["Hall"])])
        next.feed(.rulesChanged([other]), at: 4)
        #expect(next.told == [.rulesChanged(["Other", "By button"])])
    }
}
