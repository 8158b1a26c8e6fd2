import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Calls of scripts")
struct ScriptCallTests {
    @Test("A call is stored before it runs, and the effects of its answer are stored before they run")
    func order() throws {
        var bench = HouseBench.settled(.scripted)
        bench.press("Hall", 5, at: 1)
        #expect(
            bench.stored.count == 1 && bench.stored[0].calls.count == 1 && bench.calls.isEmpty && bench.told.isEmpty)
        bench.feed(.stored, at: 1.01)
        let call = try #require(bench.calls.first)
        #expect(bench.callsTold == ["calling"] && bench.stored[0].calls.elements[0].until == .at(601))
        _ = bench.done()
        let answer = ScriptAnswer.answer(
            .turnOn(["Lamp"]), timers: [.init(name: "lights out", delay: .seconds(60))], state: "{}", log: ["on"])
        bench.answer(call, answer, at: 1.02)
        let memory = try #require(bench.stored.first)
        #expect(bench.actions == [.store(memory)])
        #expect(memory.calls.isEmpty && memory.commands.count == 1 && memory.scripts.count == 1)
        let kept = memory.scripts[0]
        #expect(kept.state == "{}" && kept.timers == [.init(name: "lights out", end: .at(61.02), startedBy: call.id)])
        #expect(kept.commands == [.at(1.02)] && bench.rules.scriptState(of: "hall.lua") == "{}")
        _ = bench.done()
        bench.feed(.stored, at: 1.03)
        let command = memory.commands[0].request
        #expect(
            bench.actions == [
                .tell(.scriptLogged(call.firing, ["on"])), .tell(.called(call)),
                .tell(.commanded(command, call.firing)), .send(command),
            ])
        #expect(command.id == call.id.part(action: 0))
    }

    @Test("An answer without actions is stored a tenth of a second later, together with other changes")
    func empty() throws {
        var bench = HouseBench.settled(.scripted)
        let call = try bench.called(1, at: 1)
        _ = bench.done()
        bench.answer(call, .answer(state: "1"), at: 2)
        #expect(bench.actions.isEmpty && bench.rules.nextDeadline == .at(2.1) && bench.rules.memory.calls.isEmpty)
        bench.feed(.deadlineReached, at: 2.1)
        #expect(bench.stored.count == 1 && bench.told.isEmpty)
        bench.feed(.stored, at: 2.2)
        #expect(bench.callsTold == ["called"] && bench.rules.nextDeadline == nil)
    }

    @Test("Each script gets one call at a time, in order; different scripts run in parallel")
    func lines() throws {
        var bench = HouseBench.settled(
            .scripted, .script(1, on: .button(plug: "Hall", .single)),
            .script(of: "other.lua", on: .button(plug: "Hall", .single)))
        for sequence in 1...3 as ClosedRange<SequenceNumber> { _ = bench.pressed(sequence, at: Double(sequence)) }
        #expect(bench.calls.map(\.handler.script) == ["hall.lua", "other.lua"] && bench.callsTold.count == 9)
        var order: [SequenceNumber?] = []
        for step in 0..<6 {
            let call = try #require(bench.calls.last { $0.handler.script == "hall.lua" })
            order.append(call.firing.cause.event)
            #expect(call.handler.index == step % 2)
            bench.answer(call, .answer(), at: 4)
        }
        #expect(order == [1, 1, 2, 2, 3, 3] && bench.calls.count == 7)
        #expect(bench.rules.memory.calls.elements.map(\.call.handler.script) == Array(repeating: "other.lua", count: 3))
    }

    @Test("A failed function has no effect, and its log is reported")
    func failed() throws {
        var bench = HouseBench.settled(.scripted)
        let call = try bench.called(1, at: 1)
        bench.feed(.callFinished(call.id, .failed("hall.lua:3: no lamp", log: ["a", "b"])), at: 2)
        bench.settle(at: 2)
        #expect(bench.callsTold == ["calling", "a", "b", "failed: hall.lua:3: no lamp"])
        #expect(bench.sent.isEmpty && bench.rules.memory.scripts.isEmpty && bench.rules.memory.calls.isEmpty)
    }

    private static let excesses: [(ScriptAnswer, String)] = [
        (
            .answer(state: String(repeating: "x", count: 65_537)),
            "its state has 65537 bytes as JSON, but at most 65536 are allowed"
        ),
        (
            .answer(timers: (0..<65).map { .init(name: "\($0)", delay: .seconds(9)) }),
            "it would have 65 timers, but at most 64 are allowed"
        ),
        (
            .answer(timers: [.init(name: String(repeating: "n", count: 64), delay: nil)]),
            "the name of a timer has 64 bytes, but at most 63 are allowed"
        ),
        (.answer(.wait(.seconds(1))), "it requested an action that scripts cannot run"),
    ]

    @Test(
        "An answer beyond a limit has no effect; the script's process and its unsaved state are discarded",
        arguments: excesses
    )
    func tooMuch(_ answer: ScriptAnswer, why: String) throws {
        var bench = HouseBench.settled(.scripted)
        let call = try bench.called(1, at: 1)
        var answer = answer
        answer.actions.append(.turnOn(["Lamp"]))
        bench.answer(call, answer, at: 2)
        bench.settle(at: 2)
        #expect(bench.callsTold.last == "failed: \(why)" && bench.withdrawn == [call.id] && bench.sent.isEmpty)
        #expect(bench.rules.memory.scripts.isEmpty)
    }

    @Test("An answer with too many actions is refused; long log lines are truncated, and surplus ones dropped")
    func bounds() throws {
        var bench = HouseBench.settled(.scripted)
        var call = try bench.called(1, at: 1)
        var answer = ScriptAnswer()
        answer.actions = Array(repeating: .notify(title: nil, text: ""), count: 257)
        bench.answer(call, answer, at: 2)
        call = try bench.called(2, at: 3)
        bench.answer(call, .answer(log: Array(repeating: String(repeating: "ü", count: 300), count: 200)), at: 4)
        bench.settle(at: 4)
        #expect(bench.callsTold.contains("failed: it requested 257 actions at once, but at most 256 are allowed"))
        let lines = bench.told.compactMap { if case .scriptLogged(_, let lines) = $0 { lines } else { nil } }
        #expect(lines.map(\.count) == [100] && lines[0].allSatisfy { $0.utf8.count == 500 })
    }

    @Test("Calls for which a script's queue has no room are reported as failed, and the others run")
    func many() throws {
        var bench = HouseBench.settled(.scripted)
        for sequence in 1...1100 as ClosedRange<SequenceNumber> { bench.press("Hall", sequence, at: 1) }
        bench.settle(at: 1)
        let told = Dictionary(bench.callsTold.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(told["calling"] == 1100)
        #expect(told["failed: too many events are waiting for hall.lua: 683 calls are unanswered"] == 417)
        var answered = 0
        while let call = bench.calls.last, bench.rules.memory.calls[call.id] != nil {
            _ = bench.done()
            bench.answer(call, .answer(state: "\(answered)"), at: 2)
            answered += 1
        }
        #expect(answered == 683 && bench.rules.memory.calls.isEmpty)
    }

    @Test("Stuck scripts leave room for the calls of a script that answers")
    func stuck() throws {
        let stuck = ["a.lua", "b.lua", "c.lua"].map { Rule.script(of: $0, on: .button(plug: "Lamp", .single)) }
        var bench = HouseBench(of: stuck + [.scripted])
        for plug in ["Hall", "Lamp"] { bench.appear(plug, at: 0) }
        for sequence in 1...1100 as ClosedRange<SequenceNumber> { bench.press("Lamp", sequence, at: 1) }
        bench.settle(at: 1)
        #expect(bench.rules.memory.calls.count < ScriptLimits.calls - 30)
        _ = bench.done()
        for sequence in 1...2000 as ClosedRange<SequenceNumber> {
            bench.answer(try bench.called(sequence, at: 2), .answer(), at: 2)
            bench.settle(at: 2)
            let told = bench.callsTold
            #expect(told == ["calling", "called"])
            _ = bench.done()
        }
    }

    @Test("A call without an answer fails after ten minutes, and the next one runs")
    func patience() throws {
        var bench = HouseBench.settled(.scripted)
        let first = try bench.called(1, at: 1)
        _ = bench.pressed(2, at: 500)
        bench.run(to: 602)
        #expect(bench.withdrawn == [first.id] && bench.calls.map(\.firing.cause.event) == [1, 2])
        #expect(bench.callsTold.last == "failed: it did not answer within 600 s")
        bench.answer(first, .answer(.turnOn(["Lamp"])), at: 603)
        bench.settle(at: 603)
        #expect(bench.sent.isEmpty, "an answer after the timeout has no effect")
        _ = bench.pressed(3, at: 700)
        bench.run(to: 2000)
        #expect(bench.callsTold.suffix(2).allSatisfy { $0 == "failed: it did not answer within 600 s" })
        #expect(bench.rules.memory.calls.isEmpty && bench.rules.nextDeadline == nil)
    }

    @Test("A rule that is changed, removed or turned off cancels its calls", arguments: 0..<3)
    func givenUp(how: Int) throws {
        var bench = HouseBench.settled(.scripted, .script(1, on: .button(plug: "Hall", .single)))
        let first = try bench.called(1, at: 1)
        let other = Rule.script(1, on: .button(plug: "Hall", .single))
        let changed = Rule.script(on: .button(plug: "Hall", .double))
        switch how {
        case 0: bench.feed(.rulesChanged([changed, other]), at: 2)
        case 1: bench.feed(.rulesChanged([other]), at: 2)
        default: bench.feed(.ruleEnabled("hall.lua:1", false), at: 2)
        }
        #expect(bench.withdrawn == [first.id] && bench.calls.map(\.handler.index) == [0, 1])
        bench.answer(first, .answer(.turnOn(["Lamp"]), state: "1"), at: 3)
        bench.settle(at: 3)
        let why = how == 2 ? "its rule was turned off" : "its rule was changed or removed"
        #expect(bench.callsTold == ["calling", "calling", "failed: \(why)"])
        #expect(bench.sent.isEmpty && bench.rules.scriptState(of: "hall.lua") == nil)
        bench.answer(try #require(bench.calls.last), .answer(.turnOn(["Lamp"])), at: 4)
        bench.settle(at: 4)
        #expect(bench.sent.count == 1)
    }

    @Test("A running call is repeated if its function has moved, but not if only the cooldown of its rule has changed")
    func changedMeanwhile() throws {
        var bench = HouseBench.settled(.scripted, .timed)
        let first = try bench.called(1, at: 1)
        _ = bench.pressed(2, at: 1)
        var changed = Rule.scripted
        (changed.cooldown, changed.actions) = (.seconds(5), [.call(ScriptHandler(script: "hall.lua", index: 1))])
        bench.feed(.rulesChanged([changed]), at: 2)
        #expect(bench.withdrawn == [first.id])
        #expect(bench.calls.map(\.id) == [first.id, first.id] && bench.calls[1].handler.index == 1)
        bench.answer(first, .answer(.turnOn(["Lamp"])), at: 3)
        bench.settle(at: 3)
        #expect(bench.sent.count == 1 && bench.calls.map(\.firing.cause.event) == [1, 1, 2])
        changed.cooldown = .zero
        bench.feed(.rulesChanged([changed]), at: 4)
        #expect(
            bench.withdrawn.count == 1 && bench.calls.count == 3,
            "a call must not be repeated if its function has not moved")
    }

    @Test("A call whose script is missing for a while is repeated when the script is back, unless its rule has changed")
    func goneForAMoment() throws {
        var bench = HouseBench.settled(.scripted, .script(1, on: .button(plug: "Hall", .single)))
        let first = try bench.called(1, at: 1)
        bench.feed(.rulesChanged([]), at: 2)
        bench.run(to: 60)
        #expect(bench.withdrawn == [first.id] && bench.calls.count == 1 && bench.rules.memory.calls.count == 2)
        bench.feed(.rulesChanged([.scripted, .script(3, on: .button(plug: "Hall", .single))]), at: 60)
        bench.settle(at: 60)
        #expect(bench.calls.map(\.id) == [first.id, first.id])
        #expect(bench.callsTold.last == "failed: its rule was changed or removed")
    }

    @Test("A call receives the plugs' states at the time it runs")
    func views() throws {
        var bench = HouseBench.settled(.scripted)
        let call = try bench.called(1, at: 1)
        _ = bench.pressed(2, at: 2)
        bench.read("Lamp", 40, at: 3)
        bench.feed(.disconnected(plug: "Hall"), at: 3)
        _ = bench.done()
        bench.answer(call, .answer(), at: 4)
        guard case .call(_, let plugs)? = bench.actions.last else {
            Issue.record("\(bench.actions)")
            return
        }
        var lamp = PlugView(name: "Lamp", isConnected: true)
        (lamp.isOn, lamp.activePower) = (true, 40)
        #expect(Set(plugs) == [PlugView(name: "Hall", isConnected: false), lamp])
    }

    @Test(
        "A timer that restarts itself ends at most sixty times per minute; delayed timers are reported once per minute"
    )
    func endlessTimer() throws {
        var bench = HouseBench.settled(.scripted, .timed)
        let again = ScriptAnswer.answer(timers: ["lights out", "b"].map { .init(name: $0, delay: .milliseconds(1)) })
        bench.answer(try bench.called(1, at: 1), again, at: 1)
        var ends: [Double] = []
        var seconds = 1.0
        while seconds < 200 {
            seconds += 0.1
            bench.feed(.deadlineReached, at: seconds)
            bench.settle(at: seconds)
            while bench.calls.count > ends.count + 1 {
                ends.append(seconds)
                bench.answer(bench.calls[ends.count], again, at: seconds)
                bench.settle(at: seconds)
            }
        }
        for (index, end) in ends.enumerated().dropFirst(60) { #expect(end - ends[index - 60] > 59.9) }
        #expect(ends.count >= 60 * 2)
        #expect((2...4).contains(bench.callsTold.count { $0.hasSuffix("wait") }))
        #expect(bench.rules.memory.scripts[0].timers.count <= 2)
    }
}
