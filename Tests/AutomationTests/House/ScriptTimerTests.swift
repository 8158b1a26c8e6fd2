import PlugModel
import ProtocolCore
import Testing

@testable import DurableRules
@testable import RuleModel

@Suite("Timers and commands of scripts")
struct ScriptTimerTests {
    private func timer(_ seconds: Double?, _ name: String = "lights out") -> ScriptAnswer.TimerChange {
        .init(name: name, delay: seconds.map { .milliseconds(Int64($0 * 1000)) })
    }

    /// The house after a press, to which the script answered with these timers at 1 s.
    private func bench(_ timers: ScriptAnswer.TimerChange...) throws -> HouseBench {
        var bench = HouseBench.settled(.scripted, .timed)
        let call = try bench.called(1, at: 1)
        bench.answer(call, .answer(timers: timers), at: 1)
        bench.settle(at: 1)
        _ = bench.done()
        return bench
    }

    @Test("A timer ends once, on time, and its end is stored together with the call")
    func ends() throws {
        var bench = try bench(timer(60))
        #expect(bench.rules.nextDeadline == .at(61))
        bench.feed(.deadlineReached, at: 61)
        let memory = try #require(bench.stored.first)
        #expect(memory.scripts[0].timers.isEmpty && memory.calls.elements.map(\.call.handler.index) == [1])
        bench.settle(at: 61)
        #expect(bench.calls.count == 1)
        bench.answer(bench.calls[0], .answer(), at: 61)
        bench.settle(at: 61)
        #expect(bench.rules.nextDeadline == nil)
    }

    @Test("A restarted timer runs for its new delay, a stopped one never ends, and the last change in an answer wins")
    func changed() throws {
        var bench = try bench(timer(60), timer(nil), timer(5, "x"), timer(30))
        #expect(bench.rules.memory.scripts[0].timers.map(\.name) == ["x", "lights out"])
        #expect(bench.rules.memory.scripts[0].timers.map(\.end) == [.at(6), .at(31)])
        let call = try bench.called(2, at: 2)
        bench.answer(call, .answer(timers: [timer(40), timer(nil, "x")]), at: 2)
        bench.settle(at: 2)
        bench.run(to: 41.9)
        #expect(bench.calls.count == 1)
        bench.run(to: 42)
        #expect(bench.calls.map(\.handler.index) == [0, 1])
    }

    @Test("A delay of zero or below is raised to a tenth of a second, and a very long one is shortened")
    func bounds() throws {
        let bench = try bench(timer(0), timer(-5, "a"), timer(1e9, "b"))
        let ends = bench.rules.memory.scripts[0].timers.map(\.end)
        #expect(ends == [.at(1.1), .at(1.1), .at(1) + ScriptLimits.longestTimer])
    }

    @Test("A timer without a rule ends without a report; if its rule is off, the firing is held back, not postponed")
    func unheard() throws {
        var bench = try bench(timer(5, "x"), timer(10))
        bench.feed(.ruleEnabled("hall.lua:2", false), at: 2)
        bench.settle(at: 2)
        bench.run(to: 20)
        #expect(bench.calls.isEmpty && bench.rules.memory.scripts[0].timers.isEmpty && bench.heldBack.count == 1)
        bench.feed(.ruleEnabled("hall.lua:2", true), at: 30)
        bench.run(to: 40)
        #expect(bench.calls.isEmpty)
    }

    @Test("A turn-off that a timer causes may be sent up to a day late, like a turn-off after a wait")
    func late() throws {
        var bench = try bench(timer(10))
        bench.run(to: 11)
        bench.feed(.disconnected(plug: "Lamp"), at: 11.5)
        bench.appear("Lamp", on: true, at: 11.6)
        bench.answer(try #require(bench.calls.last), .answer(.turnOff(["Lamp"]), .turnOn(["Hall"])), at: 12)
        let untils = bench.rules.memory.commands.map(\.until)
        #expect(untils.count == 2 && untils[0] == .at(12) + DurableRuleEngine.waitedPatience)
    }

    @Test("Commands beyond sixty per minute are held back and reported once per minute; other scripts continue")
    func budget() throws {
        let other = Rule.script(of: "other.lua", on: .button(plug: "Hall", .single))
        var bench = HouseBench.settled(.scripted, other)
        var sent = 0
        for sequence in 1...30 as ClosedRange<SequenceNumber> {
            let seconds = Double(sequence)
            _ = bench.pressed(sequence, at: seconds)
            for call in bench.calls {
                let isOther = call.handler.script == "other.lua"
                let actions: [RuleAction] =
                    isOther ? [.turnOn(["Hall"])] : Array(repeating: .toggle(["Lamp"]), count: 10)
                var answer = ScriptAnswer()
                answer.actions = actions
                bench.answer(call, answer, at: seconds)
            }
            bench.settle(at: seconds)
            sent += bench.told.count {
                if case .commanded(let request, _) = $0 { request.plug == "Lamp" } else { false }
            }
            let others = bench.told.count {
                if case .commanded(let request, _) = $0 { request.plug == "Hall" } else { false }
            }
            #expect(others == 1)
            let told = bench.callsTold.filter { $0.hasSuffix("held back") }
            #expect(told == (sequence == 7 ? ["hall.lua: 10 held back"] : []))
            _ = bench.done()
        }
        #expect(sent == 60)
        bench.run(to: 67)
        #expect(bench.callsTold.filter { $0.hasSuffix("held back") } == ["hall.lua: 230 held back"])
        bench.run(to: 200)
        #expect(bench.callsTold.count { $0.hasSuffix("held back") } == 1 && bench.rules.nextDeadline == nil)
    }
}
