import Automation
import Daemon
import PlugProtocol
import PowerHistory
import Presentation
import ProtocolCore
import Testing

@testable import Dashboard

@Suite struct RuleBoardTests {
    private let rule = Rule(
        name: "Movie night", triggers: [.activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40))],
        conditions: [.relay(plug: "Lamp", on: true)],
        actions: [.dim(["Lamp"], to: DimLevel(percent: 30), over: .seconds(2)), .turnOff(["Fan", "Radio"])])
    private let firing = Firing(
        rule: "Movie night", cause: .button(plug: "Hall", .single, sequence: 4), time: .zero)

    @Test func aRuleIsToldInWords() {
        let record = RuleBoard([rule]).records[0]
        #expect(record.when == ["Television rises above 40 W"])
        #expect(record.conditions == ["Lamp is on"])
        #expect(record.actions == ["dim Lamp to 30 % over 2 s", "turn off Fan, Radio"])
        #expect(record.firings == 0 && record.lastFiring == nil)
    }

    @Test func whatItDidIsToldAndKept() {
        var board = RuleBoard([rule])
        board.begin([FiringRecord(at: "2026-11-20T00:00:00.000Z", rule: "Movie night", plug: nil, why: "before")])
        #expect(board.records[0].lastCause == "before" && board.records[0].firings == 0)
        let messages = board.note(RunnerRecord(at: moment, notice: .firing(firing)))
        #expect(messages.map(\.kind) == ["rule", "rules"])
        #expect(board.records[0].firings == 1 && board.records[0].lastCause == "Hall: button pressed (single)")
        _ = board.note(RunnerRecord(at: moment, notice: .heldBack(firing, .cooldown(until: .zero))))
        #expect(board.records[0].heldBackBecause == "cooling down" && board.heldBack["Movie night"] == 1)
        #expect(board.note(RunnerRecord(at: moment, notice: .lost(plug: "Fan"))).map(\.kind) == ["rule"])
        #expect(board.recent.map(\.record.rule) == ["Movie night"])
    }

    @Test func whatTheHistoryKeptIsToldByNames() {
        let stored = StoredFiring(at: 1_795_251_683_456, rule: "Movie night", plug: lampID, cause: "Lamp rose")
        let record = FiringRecord(stored, names: [lampID: "Desk Lamp"])
        #expect(record.at == "2026-11-21T09:01:23.456Z" && record.plug == "Desk Lamp" && record.why == "Lamp rose")
        #expect(FiringRecord(stored, names: [:]).plug == nil)
    }

    @Test func thatNothingCanBeStoredIsKnownUntilItCan() {
        var board = RuleBoard([rule])
        _ = board.note(RunnerRecord(at: moment, notice: .notStored(reason: "no room")))
        #expect(board.storeFault == "no room")
        _ = board.note(RunnerRecord(at: moment, notice: .stored))
        #expect(board.storeFault == nil)
    }
}
