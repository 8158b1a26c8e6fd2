import Automation
import LinuxSystem
import NIOPosix
import PlugModel
import RuleModel
import TestSupport
import Testing

@testable import Daemon

/// A performer that does not finish until its task is cancelled.
private struct SlowPerformer: EffectPerforming {
    let outcome: EffectOutcome?

    func perform(_ request: EffectRequest) async -> EffectOutcome? {
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
        return outcome
    }
}

@Suite(.timeLimit(.minutes(1))) struct EffectRunnerTests {
    private let rule = Rule(
        name: "Bell", triggers: [.button(plug: "Switch", .single)], actions: [.notify(title: "", text: "somebody")])

    /// Stops the rules while an effect is running.
    ///
    /// - Returns: The reported outcome of the effect, and the number of effects that are left to the next process.
    private func stop(_ performer: SlowPerformer) async throws -> (outcome: EffectOutcome?, left: Int) {
        let directory = TestFolder()
        let house = FakeHouse()
        let runner = RuleRunner(
            RuleFileSet(rules: [rule]), house: house,
            store: try RuleStore(directory.path) { Issue.record("\($0)") }, performer: performer,
            on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        let telling = Task {
            await house.snapshot("Switch")
            await house.press("Switch")
        }
        var ended: EffectOutcome?
        for await record in runner.records {
            switch record.notice {
            case .performing: task.cancel()
            case .effect(_, let outcome): ended = outcome
            case _: break
            }
        }
        await telling.value
        await task.value
        return (ended, try RuleStore(directory.path) { Issue.record("\($0)") }.memory.effects.count)
    }

    @Test("A cancelled effect that reports an outcome is not left to the next process")
    func whatIsCutShortHalfDoneIsNotLeftToTheNextProcess() async throws {
        let half = try await stop(SlowPerformer(outcome: .failed("phone: cancelled: the controller is stopping")))
        #expect(half.outcome == .failed("phone: cancelled: the controller is stopping") && half.left == 0)
    }

    @Test(
        "A notification that no rule requests is reported with its outcome, unless it is cancelled before it has one",
        arguments: [EffectOutcome.failed("phone: cancelled"), nil])
    func notification(outcome: EffectOutcome?) async throws {
        let id = try #require(RequestID(bytes: [UInt8](repeating: 7, count: 16)))
        let firing = Firing(id: id, rule: "plugctl budget", cause: .init(.told("60 EUR")), time: BootClock.now)
        let request = EffectRequest(id: id, effect: .notify(title: "Budget", text: "used up"), firing: firing)
        let runner = RuleRunner(
            RuleFileSet(rules: []), house: FakeHouse(), store: nil, performer: SlowPerformer(outcome: outcome),
            on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        let sending = Task { await runner.notify(request) }
        var ended: EffectOutcome?
        for await record in runner.records {
            switch record.notice {
            case .performing(let performed):
                #expect(performed == request)
                sending.cancel()
                Task {
                    _ = await sending.value
                    task.cancel()
                }
            case .effect(_, let outcome): ended = outcome
            case _: break
            }
        }
        #expect(await sending.value == (outcome != nil) && ended == outcome)
        await task.value
    }

    @Test("A cancelled effect without an outcome is left to the next process")
    func whatIsCutShortBeforeItIsDoneIsLeftToTheNextProcess() async throws {
        let nothing = try await stop(SlowPerformer(outcome: nil))
        #expect(nothing.outcome == nil && nothing.left == 1)
    }
}
