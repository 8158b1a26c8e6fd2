import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Scripts across restarts")
struct ScriptRestartTests {
    /// The memory as the next process reads it.
    private func reread(_ bench: HouseBench, at seconds: Double) throws -> StoredRuleState {
        let moment = HostMoment(boot: HouseBench.boot, instant: .at(seconds), nanosecondsSince1970: 0)
        return try StoredRuleState(decoding: try #require(bench.stored.last).encoded(at: moment), at: moment)
    }

    @Test("An unanswered call is repeated with the same id when the plugs are connected again, before new calls")
    func again() throws {
        var bench = HouseBench.settled(.scripted)
        let first = try bench.called(1, at: 1)
        _ = bench.pressed(2, at: 1)
        var next = HouseBench(.scripted, memory: try reread(bench, at: 5), at: 5)
        next.appear("Hall", at: 5)
        next.press("Hall", 3, at: 5)
        next.settle(at: 5)
        #expect(next.calls.isEmpty, "the call waits for the lamp")
        next.appear("Lamp", at: 6)
        next.settle(at: 6)
        #expect(next.calls.map(\.id) == [first.id])
        var events: [SequenceNumber?] = []
        while let call = next.calls.last, next.rules.memory.calls[call.id] != nil {
            events.append(call.firing.cause.event)
            #expect("\(call.firing.cause)" == "Hall: button pressed (single)" && call.firing.cause.plug == "Hall")
            next.answer(call, .answer(), at: 7)
            next.settle(at: 7)
        }
        #expect(events == [1, 2, 3])
    }

    @Test("A call whose rule now calls a different function is reported as failed")
    func gone() throws {
        var bench = HouseBench.settled(.scripted)
        _ = bench.pressed(1, at: 1)
        var changed = Rule.scripted
        changed.actions = [.call(ScriptHandler(script: "hall.lua", index: 4))]
        var next = HouseBench.settled(changed, memory: try reread(bench, at: 5), at: 5)
        next.settle(at: 6)
        #expect(next.calls.isEmpty && next.rules.memory.calls.isEmpty)
        var told = HouseBench(changed, memory: try reread(bench, at: 5), at: 5)
        told.run(to: 9)
        #expect(told.callsTold == ["failed: its rule was changed or removed"])
    }

    @Test("A timer that ended during the downtime fires after the startup grace period, unless it ended over a day ago")
    func timers() throws {
        var bench = HouseBench.settled(.scripted, .timed)
        let call = try bench.called(1, at: 1)
        bench.answer(call, .answer(timers: [.init(name: "lights out", delay: .seconds(60))]), at: 1)
        bench.settle(at: 1)
        var early = HouseBench.settled(.scripted, .timed, memory: try reread(bench, at: 30), at: 30)
        early.run(to: 60.9)
        #expect(early.calls.isEmpty)
        early.run(to: 61)
        #expect(early.calls.map(\.handler.index) == [1])
        var late = HouseBench(.scripted, .timed, memory: try reread(bench, at: 1000), at: 1000)
        late.appear("Hall", at: 1000)
        late.settle(at: 1000)
        #expect(late.calls.isEmpty)
        late.run(to: 1003)
        #expect(late.calls.map(\.id) == early.calls.map(\.id) && late.calls[0].firing.cause.age == .seconds(942))
        var tooLate = HouseBench(.scripted, .timed, memory: try reread(bench, at: 100_000), at: 100_000)
        tooLate.run(to: 100_004)
        #expect(tooLate.calls.isEmpty && tooLate.heldBack.count == 1 && tooLate.rules.memory.scripts[0].timers.isEmpty)
    }

    /// Creates a house in which the script of the rules `scripted` and `timed` is invalid or missing from 30 s until
    /// `seconds`.
    private func broken(until seconds: Double, timer delay: Duration) throws -> (first: ScriptCall, HouseBench) {
        var bench = HouseBench.settled(.scripted, .timed)
        bench.answer(
            try bench.called(1, at: 1), .answer(timers: [.init(name: "lights out", delay: delay)], state: "{}"), at: 1)
        let call = try bench.called(2, at: 20)
        bench.settle(at: 20)
        let other = Rule.script(of: "other.lua", on: .button(plug: "Hall", .single))
        var next = HouseBench.settled(other, memory: try reread(bench, at: 30), at: 30)
        _ = next.pressed(3, at: 31)
        #expect(next.calls.map(\.handler.script) == ["other.lua"], "other scripts must continue")
        next.answer(next.calls[0], .answer(), at: 32)
        next.settle(at: 32)
        next.run(to: seconds)
        #expect(next.calls.count == 1)
        _ = next.done()
        next.feed(.rulesChanged([other, .scripted, .timed]), at: seconds)
        next.settle(at: seconds)
        return (call, next)
    }

    @Test("When a script is valid again, it receives the calls and ends of timers that waited, even across a restart")
    func brokenForAWhile() throws {
        var (call, bench) = try broken(until: 300, timer: .seconds(60))
        #expect(bench.calls.map(\.id) == [call.id])
        bench.answer(call, .answer(), at: 301)
        bench.settle(at: 301)
        #expect(bench.calls.map(\.handler.index) == [0, 1] && bench.calls[1].firing.cause.age == .seconds(239))
        #expect(bench.rules.scriptState(of: "hall.lua") == "{}")
    }

    @Test("Calls of a missing script fail after ten minutes; a timer that ended within the last day still fires")
    func brokenForLong() throws {
        var bench = HouseBench.settled(.scripted)
        _ = bench.pressed(1, at: 1)
        var missing = HouseBench(memory: try reread(bench, at: 5), at: 5)
        missing.run(to: 602)
        #expect(missing.callsTold == ["failed: its script was not available within 600 s"])
        let (_, late) = try broken(until: 80_000, timer: .seconds(60))
        #expect(late.calls.map(\.handler.index) == [1] && late.heldBack.isEmpty)
        #expect(late.rules.memory.scripts[0].timers.isEmpty)
    }

    @Test("A command soon after the start of the process waits up to a minute for a known plug")
    func reunion() throws {
        var bench = HouseBench.settled(.scripted)
        _ = bench.pressed(1, at: 1)
        var next = HouseBench(.scripted, memory: try reread(bench, at: 5), at: 5)
        next.appear("Hall", at: 5)
        next.run(to: 9)
        next.answer(
            try #require(next.calls.first), .answer(.turnOff(["lamp"]), .toggle(["Lamp"]), .turnOff(["Fan"])), at: 9)
        next.settle(at: 9)
        let unsent = next.told.compactMap { if case .notSent(_, let plug, _) = $0 { plug } else { nil } }
        #expect(unsent == ["Lamp", "Fan"] && next.rules.memory.deferred.map(\.until) == [.at(69)])
        next.appear("Lamp", on: true, at: 30)
        next.settle(at: 30)
        #expect(next.sent.map(\.plug) == ["Lamp"])
    }

    @Test("The state of a missing script is kept for a day, even across a restart")
    func kept() throws {
        var bench = HouseBench.settled(.scripted, .script(of: "other.lua", on: .button(plug: "Hall", .single)))
        _ = bench.pressed(1, at: 1)
        for call in bench.calls {
            let timer = ScriptAnswer.TimerChange(name: "t", delay: .seconds(50))
            bench.answer(call, .answer(timers: [timer], state: call.handler.script), at: 1)
        }
        bench.settle(at: 1)
        let memory = try reread(bench, at: 2)
        #expect(memory.scripts.map(\.name) == ["hall.lua", "other.lua"])
        bench.feed(.rulesChanged([.scripted]), at: 2)
        bench.settle(at: 2)
        #expect(bench.rules.scriptState(of: "other.lua") == "other.lua")
        var next = HouseBench.settled(.scripted, memory: try reread(bench, at: 80_000), at: 80_000)
        next.run(to: 86_401)
        #expect(next.rules.scriptState(of: "other.lua") == "other.lua")
        var back = next
        next.run(to: 86_402)
        #expect(next.rules.memory.scripts.map(\.name) == ["hall.lua"])
        back.feed(.rulesChanged([.scripted, .script(of: "other.lua", on: .button(plug: "Hall", .single))]), at: 86_402)
        back.run(to: 200_000)
        #expect(back.rules.memory.scripts.map(\.until) == [nil, nil])
        // The script was already missing when the process started.
        var away = HouseBench.settled(.scripted, memory: memory, at: 3)
        away.run(to: 86_402)
        #expect(away.rules.memory.scripts.map(\.name) == ["hall.lua", "other.lua"])
        away.run(to: 86_403)
        #expect(away.rules.memory.scripts.map(\.name) == ["hall.lua"])
    }

    @Test("At the limit of scripts, a new one replaces the one that would expire first")
    func makesRoom() {
        var memory = StoredRuleState()
        for number in 0..<ScriptLimits.scripts {
            var script = StoredRuleState.Script(name: "\(number)")
            script.until = number == 0 ? nil : .at(Double((number * 7) % 64))
            memory.scripts.append(script)
        }
        memory.change("new", running: ["0", "new"]) { $0.state = "1" }
        #expect(memory.scripts.count == ScriptLimits.scripts && memory.script(named: "new")?.state == "1")
        #expect(memory.script(named: "55") == nil, "script 55 would expire first: 7 * 55 = 6 * 64 + 1")
    }
}
