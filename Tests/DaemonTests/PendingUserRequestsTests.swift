import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import RuleModel
import TestSupport
import Testing

@testable import Daemon

/// Requests of the user to running rules.
@Suite(.timeLimit(.minutes(1))) struct AskedOfRulesTests {
    private static let waiting = Rule(
        name: "Fan", triggers: [.button(plug: "Switch", .single)], actions: [.wait(.seconds(600)), .turnOff(["Fan"])])

    private func running(_ store: RuleStore?, _ body: (RuleRunner) async throws -> Void) async throws {
        let runner = RuleRunner(
            RuleFileSet(rules: [Self.waiting]), house: FakeHouse(), store: store,
            on: MultiThreadedEventLoopGroup.singleton.next())
        let task = Task { await runner.run() }
        let reading = Task { for await _ in runner.records {} }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(runner))
        } catch {
            result = .failure(error)
        }
        task.cancel()
        await task.value
        await reading.value
        await #expect(throws: CancellationError.self) { try await runner.enable("Fan", true) }
        try result.get()
    }

    @Test("A manual run that is held back throws the reason") func aRunThatIsHeldBackIsNoSuccess() async throws {
        try await running(nil) { runner in
            _ = try await runner.fire("Fan")
            let error = await #expect(throws: RuleRequestError.self) { try await runner.fire("Fan") }
            #expect(error == .heldBack(rule: "Fan", .running(1)))
            #expect(error.map { "\($0)" } == "\"Fan\" did not fire: the previous firing is not finished")
            await #expect(throws: RuleRequestError.unknown(rule: "fan", known: ["Fan"])) {
                try await runner.fire("fan")
            }
        }
    }

    @Test("Turning a rule on or off returns when the change is stored, and throws if it cannot be stored")
    func aRuleIsOffOnceThatIsStored() async throws {
        let directory = TestFolder()
        let disk = FailingWrites()
        try disk.preventReserve(in: directory.path)
        let store = try RuleStore(directory.path, files: FileStore(calls: disk)) { Issue.record("\($0)") }
        try await running(store) { runner in
            try await runner.enable("Fan", false)
            disk.fails = true
            let error = await #expect(throws: RuleRequestError.self) { try await runner.enable("Fan", true) }
            guard case .notStored("Fan", isOn: true, let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.hasSuffix("No space left on device"))
            #expect(await runner.disabled.isEmpty, "the rule must be enabled although the change could not be stored")
            disk.fails = false
            try await runner.enable("Fan", false)
        }
        let next = try RuleStore(directory.path) { Issue.record("\($0)") }
        #expect(next.memory.engine.disabled == ["Fan"])
    }
}
