import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

/// A fan is turned on for ten minutes. The process is killed during this time, and the next process starts after
/// the ten minutes.
@Suite("A run that resumes late waits for its plugs")
struct ReunionTests {
    static let waits: [RuleAction] = [
        .wait(.seconds(600)), .waitUntil(.relay(plug: "Lamp", on: true), timeout: .seconds(600), .goOn),
    ]
    private let off = PlugCommand.setRelay(on: false, autoOff: nil)

    private func restarted(_ wait: RuleAction) throws -> HouseBench {
        let rule = Rule.button(.turnOn(["Fan"]), wait, .turnOff(["Fan"]))
        var bench = HouseBench(rule)
        bench.appear("Hall", at: 0)
        bench.appear("Fan", at: 0)
        bench.settle(at: 0)
        bench.press("Hall", 1, at: 1)
        bench.settle(at: 1)
        let sent = try #require(bench.sent.first)
        bench.feed(.commandFinished(sent.id, .done(PlugState(relayOn: true), event: 1)), at: 1.5)
        bench.settle(at: 2)
        var next = HouseBench(rule, memory: try #require(bench.stored.last), at: 1000)
        next.appear("Hall", at: 1000.5)
        next.settle(at: 1000.5)
        return next
    }

    private func unsent(_ bench: HouseBench) -> [UnsentReason] {
        bench.told.compactMap { if case .notSent(_, _, let reason) = $0 { reason } else { nil } }
    }

    @Test("The fan is turned off when it is back within a minute of the start of the next process", arguments: waits)
    func back(_ wait: RuleAction) throws {
        var bench = try restarted(wait)
        bench.run(to: 1040)
        #expect(bench.sent.isEmpty && unsent(bench).isEmpty)
        bench.appear("Fan", on: true, at: 1040)
        bench.settle(at: 1040)
        #expect(bench.sent.map(\.command) == [off] && bench.sent.map(\.plug) == ["Fan"])
        bench.run(to: 1200)
        #expect(bench.sent.count == 1 && unsent(bench).isEmpty && bench.rules.memory.engine.runs.isEmpty)
    }

    @Test("A fan that stays disconnected for a minute is reported as not present", arguments: waits)
    func away(_ wait: RuleAction) throws {
        var bench = try restarted(wait)
        bench.run(to: 1059)
        #expect(unsent(bench).isEmpty && bench.rules.memory.engine.runs.count == 1)
        bench.run(to: 1064)
        #expect(unsent(bench) == [.notPresent] && bench.sent.isEmpty)
        #expect(bench.rules.memory.engine.runs.isEmpty)
    }
}
