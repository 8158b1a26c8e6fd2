import Automation
import DurableRules
import NIOPosix
import PlugModel
import RuleModel
import TestSupport
@testable import Scripting
import Synchronization
import Testing

@testable import Daemon

/// Scripts with answers that the test defines.
private actor FakeScripts: ScriptCalling {
    nonisolated let notices: AsyncStream<ScriptNotice>
    nonisolated let noticing: AsyncStream<ScriptNotice>.Continuation
    private(set) var scripts: [Script] = []
    private(set) var states: [String: String] = [:]
    private(set) var calls: [ScriptCall] = []
    private(set) var given: [String?] = []
    private let answer: @Sendable (ScriptCall, [PlugView]) -> ScriptOutcome?

    init(_ answer: @escaping @Sendable (ScriptCall, [PlugView]) -> ScriptOutcome?) {
        (notices, noticing) = AsyncStream.makeStream()
        self.answer = answer
    }

    func replace(_ scripts: [Script], states: [String: String]) { (self.scripts, self.states) = (scripts, states) }

    func call(_ call: ScriptCall, plugs: [PlugView], state: String?, time: ScriptTime) async -> ScriptOutcome? {
        calls.append(call)
        given.append(state)
        if let outcome = answer(call, plugs) { return outcome }
        // This stream has no elements. It ends when the task is cancelled.
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
        return nil
    }

    func end() {}
}

@Suite(.timeLimit(.minutes(1))) struct ScriptRunnerTests {
    private static func script(_ source: String = "on(...)") -> Script {
        let handler = ScriptHandler(script: "hall.lua", index: 0)
        let rule = Rule(name: "hall.lua:1", triggers: [.button(plug: "Switch", .single)], actions: [.call(handler)])
        return Script(name: "hall.lua", source: source, rules: [rule], log: [])
    }

    private static func set(_ script: Script) -> RuleFileSet { RuleFileSet(rules: script.rules, scripts: [script]) }

    private func running(
        _ house: FakeHouse, _ scripts: FakeScripts?, storing store: RuleStore? = nil,
        _ body: (RuleRunner, inout AsyncStream<RunnerRecord>.Iterator) async -> Void
    ) async {
        let runner = RuleRunner(
            Self.set(Self.script()), house: house, store: store, scripts: scripts,
            on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        let (kept, continuation) = AsyncStream.makeStream(of: RunnerRecord.self)
        let keeping = Task {
            for await record in runner.records { continuation.yield(record) }
            continuation.finish()
        }
        var records = kept.makeAsyncIterator()
        await body(runner, &records)
        task.cancel()
        await task.value
        await keeping.value
    }

    /// Returns the case names of the notices up to one that satisfies the condition.
    private func told(
        _ records: inout AsyncStream<RunnerRecord>.Iterator, to end: (RuleNotice) -> Bool
    ) async -> [String] {
        var words: [String] = []
        while let notice = await records.next()?.notice {
            words.append("\(notice)".prefix { $0 != "(" }.description)
            if end(notice) { break }
        }
        return words
    }

    @Test("The action that a script's function requests becomes a command")
    func whatAFunctionAsksForBecomesACommand() async {
        let house = FakeHouse()
        let seen = Mutex<[PlugView]>([])
        let scripts = FakeScripts { _, plugs in
            seen.withLock { $0 = plugs }
            var answer = ScriptAnswer()
            (answer.actions, answer.log) = ([.turnOn(["Lamp"])], ["the hall"])
            return .answered(answer)
        }
        await running(house, scripts) { _, records in
            await house.snapshot("Lamp")
            await house.snapshot("Switch")
            for _ in 0..<2 { _ = await records.next() }
            await house.press("Switch")
            let words = await told(&records) { if case .command = $0 { true } else { false } }
            #expect(words.contains("firing") && words.contains("calling") && words.contains("scriptLogged"))
            #expect(await house.commands.map(\.plug) == ["Lamp"])
            #expect(seen.withLock { $0.map(\.name).sorted() } == ["Lamp", "Switch"])
            await house.acknowledged(5, of: "Switch")
        }
        #expect(await scripts.scripts.map(\.name) == ["hall.lua"])
    }

    @Test("If a script's function fails, no command is sent and the failure is reported")
    func aFunctionThatFailsDoesNothingAndIsTold() async {
        let house = FakeHouse()
        let scripts = FakeScripts { _, _ in .failed("hall.lua:1: no", log: ["so far"]) }
        await running(house, scripts) { _, records in
            await house.snapshot("Switch")
            _ = await records.next()
            await house.press("Switch")
            let words = await told(&records) { if case .callFailed(_, "hall.lua:1: no") = $0 { true } else { false } }
            #expect(words.contains("scriptLogged") && words.last == "callFailed")
            #expect(await house.commands.isEmpty)
        }
    }

    @Test("A call without an answer is repeated by the next process")
    func aCallWithoutAnAnswerIsMadeAgainByTheNextProcess() async throws {
        let directory = TestFolder()
        let silent = FakeScripts { _, _ in nil }
        let house = FakeHouse()
        await running(house, silent, storing: try RuleStore(directory.path) { Issue.record("\($0)") }) { _, records in
            await house.snapshot("Switch")
            _ = await records.next()
            await house.press("Switch")
            _ = await told(&records) { if case .calling = $0 { true } else { false } }
        }
        let others = FakeScripts { _, _ in
            var answer = ScriptAnswer()
            answer.state = "{\"presses\":1}"
            return .answered(answer)
        }
        let second = FakeHouse()
        await running(second, others, storing: try RuleStore(directory.path) { Issue.record("\($0)") }) { _, records in
            await second.snapshot("Switch")
            _ = await told(&records) { if case .called = $0 { true } else { false } }
        }
        let ids = await (silent.calls + others.calls).map(\.id)
        #expect(ids.count == 2 && ids.first == ids.last)
        let third = FakeScripts { _, _ in nil }
        let quiet = FakeHouse()
        await running(quiet, third, storing: try RuleStore(directory.path) { Issue.record("\($0)") }) { _, records in
            await quiet.snapshot("Switch")
            _ = await records.next()
        }
        #expect(await third.states == ["hall.lua": "{\"presses\":1}"])
    }

    @Test("A call receives the last accepted state") func aCallComesWithTheStateThatTheHouseKeeps() async {
        let house = FakeHouse()
        let scripts = FakeScripts { call, _ in
            let number = call.firing.cause.event ?? 0
            var answer = ScriptAnswer()
            answer.state = "{\"event\":\"\(number)\"}"
            // The answer has more timers than allowed, so the whole answer is rejected.
            if number == 6 {
                answer.timers = (0...ScriptLimits.timers).map { .init(name: "\($0)", delay: .seconds(60)) }
            }
            return .answered(answer)
        }
        await running(house, scripts) { _, records in
            await house.snapshot("Switch")
            _ = await records.next()
            for number in [5, 6, 7] as [SequenceNumber] {
                await house.press("Switch", sequence: number)
                _ = await told(&records) { notice in
                    switch notice {
                    case .called, .callFailed: true
                    case _: false
                    }
                }
            }
        }
        let given = await scripts.given
        #expect(given.count == 3 && given[0] == nil && given[1] != nil && given[2] == given[1])
    }

    @Test("A changed script with the same rules replaces the previous one, and the change is reported")
    func anotherTextWithTheSameRulesIsHandedOver() async {
        let house = FakeHouse()
        let scripts = FakeScripts { _, _ in .answered(ScriptAnswer()) }
        await running(house, scripts) { runner, records in
            await runner.replace(Self.set(Self.script("on(...) -- better")))
            guard case .rulesChanged(["hall.lua:1"]) = await records.next()?.notice else {
                Issue.record("the changed rule was not reported")
                return
            }
            #expect(await scripts.scripts.map(\.source) == ["on(...) -- better"])
            scripts.noticing.yield(.ended(script: "hall.lua", why: "too long", restartsIn: .seconds(1)))
            guard case .scriptEnded("hall.lua", why: "too long", restartsIn: .seconds(1)) = await records.next()?.notice
            else {
                Issue.record("the end of the script was not reported")
                return
            }
        }
    }
}
