import Automation
import Foundation
import PlugModel
import RuleModel
import TestSupport
import Testing

@testable import Scripting

@Suite("The pool of scripts", .timeLimit(.minutes(2))) struct ScriptPoolTests {
    private let folder = TestFolder()

    /// A script that logs its process id and counts its calls. If the file exists, the script deletes it and sends
    /// itself the signal.
    private static func counting(_ file: String = "/nowhere", signal: String = "signal.SIGKILL") -> String {
        """
        count = load.get('state', 0)
        def call(call):
            global count
            if os.path.exists('\(file)'):
                os.unlink('\(file)')
                os.kill(os.getpid(), \(signal))
            count = count + 1
            return {'state': count, 'log': [str(os.getpid())]}
        """
    }

    private func states(_ outcomes: [ScriptOutcome?]) -> [String?] {
        outcomes.map { if case .answered(let answer) = $0 { answer.state } else { nil } }
    }

    private func file() throws -> String {
        let path = folder.path + "/death"
        try Data().write(to: URL(filePath: path))
        return path
    }

    @Test("Calls of a script are made in order") func callsOfAScriptAreMadeInTheirOrder() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting())], states: ["house.lua": "100"])
        var outcomes: [ScriptOutcome?] = []
        var state: String? = "100"
        for number in 1...20 {
            outcomes.append(await pool.call(.press(UInt8(number)), plugs: [], state: state, time: .start))
            state = states(outcomes).last ?? nil
        }
        #expect(states(outcomes) == (101...120).map { "\($0)" })
        await pool.end()
        #expect(
            await pool.call(.press(), plugs: [], state: nil, time: .start)
                == .failed("no script named house.lua is running"))
    }

    @Test("A script that waits does not delay the call of another script")
    func scriptsRunInParallel() async throws {
        let pool = ScriptPool(host: StandIn.path)
        let flag = folder.path + "/answered"
        // The slow script ends only after the test has the answer of the other script.
        let slow = try StandIn.script(
            "def call(call):\n  while not os.path.exists('\(flag)'): time.sleep(0.01)\n  return {}", name: "slow.lua")
        await pool.replace([slow, try StandIn.script(Self.counting())], states: [:])
        async let late = pool.call(.press(of: "slow.lua"), plugs: [], state: nil, time: .start)
        #expect(states([await pool.call(.press(), plugs: [], state: nil, time: .start)]) == ["1"])
        try Data().write(to: URL(filePath: flag))
        #expect(await late == .answered(ScriptAnswer()))
        await pool.end()
    }

    @Test("A call is repeated if its process was killed") func oneThatWasKilledIsAskedAgain() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting(try file()))], states: ["house.lua": "7"])
        #expect(states([await pool.call(.press(), plugs: [], state: "7", time: .start)]) == ["8"])
        #expect(states([await pool.call(.press(), plugs: [], state: "8", time: .start)]) == ["9"])
        var notices = pool.notices.makeAsyncIterator()
        #expect(await notices.next() == .runs(script: "house.lua"))
        #expect(
            await notices.next()
                == .ended(script: "house.lua", why: "its process was killed", restartsIn: .seconds(1)))
        #expect(await notices.next() == .runs(script: "house.lua"))
        await pool.end()
    }

    @Test("A call is not repeated if the script caused the end of its process")
    func oneThatDiedByItsOwnFaultIsNot() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting(try file(), signal: "signal.SIGPROF"))], states: [:])
        #expect(
            await pool.call(.press(), plugs: [], state: nil, time: .start) == .failed("it computed for more than 1 s"))
        #expect(states([await pool.call(.press(), plugs: [], state: nil, time: .start)]) == ["1"])
        await pool.end()
    }

    @Test("The end of an idle process is reported, and the script is restarted")
    func deathOfAnIdleProcessIsNoticed() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting())], states: [:])
        guard case .answered(let answer) = await pool.call(.press(), plugs: [], state: nil, time: .start),
            let number = answer.log.first.flatMap({ Int32($0) })
        else {
            Issue.record("the script did not answer")
            return
        }
        kill(number, SIGKILL)
        var notices = pool.notices.makeAsyncIterator()
        #expect(await notices.next() == .runs(script: "house.lua"))
        #expect(
            await notices.next()
                == .ended(script: "house.lua", why: "its process was killed", restartsIn: .seconds(1)))
        // The new process starts with the last state.
        #expect(states([await pool.call(.press(), plugs: [], state: "1", time: .start)]) == ["2"])
        await pool.end()
    }

    @Test("A changed script replaces the old one, and a running call is repeated")
    func changedScriptTakesItsPlace() async throws {
        let pool = ScriptPool(host: StandIn.path)
        let hanging = try StandIn.script("def call(call):\n  os.kill(os.getpid(), signal.SIGSTOP)")
        await pool.replace([hanging], states: [:])
        async let outcome = pool.call(.press(), plugs: [], state: nil, time: .start)
        var notices = pool.notices.makeAsyncIterator()
        #expect(await notices.next() == .runs(script: "house.lua"))
        try await Task.sleep(for: .milliseconds(50))
        await pool.replace([try StandIn.script(Self.counting())], states: [:])
        // The new process answers the call that the old one did not answer.
        #expect(states([await outcome]) == ["1"])
        #expect(states([await pool.call(.press(), plugs: [], state: "1", time: .start)]) == ["2"])
        await pool.replace([], states: [:])
        #expect(await pool.call(.press(), plugs: [], state: nil, time: .start) != nil)
        await pool.end()
    }

    @Test("Ending the pool ends all processes and completes the calls with nil")
    func endLeavesNoProcessAndNoAnswer() async throws {
        let pool = ScriptPool(host: StandIn.path)
        let hanging = try StandIn.script("def call(call):\n  os.kill(os.getpid(), signal.SIGSTOP)")
        let counting = try StandIn.script(Self.counting(), name: "other.lua")
        await pool.replace([hanging, counting], states: [:])
        guard
            case .answered(let answer) = await pool.call(.press(of: "other.lua"), plugs: [], state: nil, time: .start),
            let number = answer.log.first.flatMap({ Int32($0) })
        else {
            Issue.record("the script did not answer")
            return
        }
        async let outcome = pool.call(.press(), plugs: [], state: nil, time: .start)
        try await Task.sleep(for: .milliseconds(50))
        await pool.end()
        #expect(await outcome == nil)
        #expect(kill(number, 0) != 0)
    }

    @Test("A cancelled call that waits is withdrawn") func callThatNobodyWaitsForIsGivenUp() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script("def call(call):\n  time.sleep(0.3)\n  return {}")], states: [:])
        async let first = pool.call(.press(1), plugs: [], state: nil, time: .start)
        let second = Task { await pool.call(.press(2), plugs: [], state: nil, time: .start) }
        try await Task.sleep(for: .milliseconds(50))
        second.cancel()
        let cancelled = await second.value
        #expect(cancelled == nil || cancelled == .answered(ScriptAnswer()))
        #expect(await first == .answered(ScriptAnswer()))
        await pool.end()
    }

    @Test("A process is replaced if the house did not store the state of its last answer")
    func whatTheHouseDoesNotKeepIsForgotten() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting())], states: ["house.lua": "5"])
        #expect(states([await pool.call(.press(), plugs: [], state: "5", time: .start)]) == ["6"])
        // The house did not store the previous answer's state, as if it had refused or withdrawn the call.
        #expect(states([await pool.call(.press(), plugs: [], state: "5", time: .start)]) == ["6"])
        #expect(states([await pool.call(.press(), plugs: [], state: "6", time: .start)]) == ["7"])
        #expect(states([await pool.call(.press(), plugs: [], state: nil, time: .start)]) == ["1"])
        await pool.end()
    }

    @Test("A refused answer does not change the state") func refusedAnswerLeavesNothing() async throws {
        let pool = ScriptPool(host: StandIn.path)
        let text =
            Self.counting() + "\ncount_up = call\ndef call(call):\n  done = count_up(call)\n"
            + "  if call['event'].get('value') == 1: done['then'] = [{'explode': 'Lamp'}]\n  return done"
        await pool.replace([try StandIn.script(text)], states: [:])
        var wrong = ScriptCall.press(1)
        wrong.firing.cause.value = 1
        guard case .failed? = await pool.call(wrong, plugs: [], state: nil, time: .start) else {
            Issue.record("the answer with an unknown action was accepted")
            return
        }
        #expect(states([await pool.call(.press(2), plugs: [], state: nil, time: .start)]) == ["1"])
        await pool.end()
    }

    @Test("A withdrawn call does not change the state") func withdrawnCallLeavesNothing() async throws {
        let pool = ScriptPool(host: StandIn.path)
        let text =
            Self.counting() + "\ncount_up = call\ndef call(call):\n"
            + "  if call['event'].get('value') == 1: time.sleep(3)\n  return count_up(call)"
        await pool.replace([try StandIn.script(text)], states: [:])
        var slow = ScriptCall.press(1)
        slow.firing.cause.value = 1
        let first = Task { [slow] in await pool.call(slow, plugs: [], state: nil, time: .start) }
        var notices = pool.notices.makeAsyncIterator()
        #expect(await notices.next() == .runs(script: "house.lua"))
        try await Task.sleep(for: .milliseconds(100))
        first.cancel()
        #expect(await first.value == nil)
        #expect(states([await pool.call(.press(2), plugs: [], state: nil, time: .start)]) == ["1"])
        await pool.end()
    }

    @Test("A call of a cancelled task is not made") func callOfACancelledTaskIsNotMade() async throws {
        let pool = ScriptPool(host: StandIn.path)
        await pool.replace([try StandIn.script(Self.counting())], states: [:])
        let task = Task { () -> ScriptOutcome? in
            while !Task.isCancelled { await Task.yield() }
            return await pool.call(.press(), plugs: [], state: nil, time: .start)
        }
        task.cancel()
        #expect(await task.value == nil)
        #expect(states([await pool.call(.press(), plugs: [], state: nil, time: .start)]) == ["1"])
        await pool.end()
    }

    @Test("Ending the pool ends a process that is loading") func oneThatIsLoadingIsEnded() async throws {
        let path = try file()
        let pool = ScriptPool(host: StandIn.path)
        let script = try StandIn.script(Self.counting(), name: "house.lua")
        let text = "if not os.path.exists('\(path)'): os.kill(os.getpid(), signal.SIGSTOP)\n" + script.source
        let loading = try ScriptReader(host: StandIn.path).read(name: "house.lua", source: text, time: .start)
        try FileManager.default.removeItem(atPath: path)
        await pool.replace([loading], states: [:])
        try await Task.sleep(for: .milliseconds(300))
        let begin = ContinuousClock.now
        await pool.end()
        // If the pool did not kill the loading process, `end()` would wait until the time limit of the process, 10 s.
        #expect(ContinuousClock.now - begin < .seconds(8))
    }
}
