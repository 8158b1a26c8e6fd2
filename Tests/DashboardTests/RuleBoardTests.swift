import Automation
import Daemon
import DurableRules
import PlugModel
import PowerHistory
import Presentation
import ProtocolCore
import RuleModel
import Testing

@testable import Dashboard

@Suite struct RuleBoardTests {
    private let rule = Rule(
        name: "Movie night", triggers: [.activePower(plug: "Television", PowerThreshold(.risesAbove, watts: 40))],
        conditions: [.relay(plug: "Lamp", on: true)],
        actions: [.dim(["Lamp"], to: DimLevel(percent: 30), over: .seconds(2)), .turnOff(["Fan", "Radio"])])
    private let firing = Firing(
        id: RequestID(bytes: [UInt8](repeating: 9, count: 16))!, rule: "Movie night",
        cause: Firing.Cause(.trigger(.button(plug: "Hall", .single)), plug: "Hall", event: 4), time: .zero)
    private let other = Rule(
        name: "Bedtime", triggers: [.button(plug: "Hall", .long)], actions: [.turnOff(["Lamp"])])

    private func note(_ notice: RuleNotice, _ board: inout RuleBoard) -> [String] {
        board.note(RunnerRecord(at: moment, notice: notice)).map(\.kind)
    }

    @Test("A rule is described in text")
    func aRuleIsToldInWords() {
        let record = RuleBoard([rule]).records[0]
        #expect(record.when == ["Television rises above 40 W"])
        #expect(record.conditions == ["Lamp is on"])
        #expect(record.actions == ["dim Lamp to 30 % over 2 s", "turn off Fan, Radio"])
        #expect(record.firings == 0 && record.lastFiring == nil)
    }

    @Test("Firings and held-back firings are reported and counted")
    func whatItDidIsToldAndKept() {
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

    @Test("A stored firing is reported with the plug's current name")
    func whatTheHistoryKeptIsToldByNames() {
        let stored = StoredFiring(at: 1_795_251_683_456, rule: "Movie night", plug: lampID, cause: "Lamp rose")
        let record = FiringRecord(stored, names: [lampID: "Desk Lamp"])
        #expect(record.at == "2026-11-21T09:01:23.456Z" && record.plug == "Desk Lamp" && record.why == "Lamp rose")
        #expect(FiringRecord(stored, names: [:]).plug == nil)
    }

    @Test("The end of a script is reported for each of its rules until it runs again")
    func aScriptThatEndsIsToldWithEachOfItsRulesUntilItRuns() {
        let handlers = (0..<2).map { ScriptHandler(script: "hall.lua", index: $0) }
        let rules = handlers.map { handler in
            Rule(
                name: "hall.lua:\(handler.index)", triggers: [.button(plug: "Hall", .single)], actions: [.call(handler)]
            )
        }
        var board = RuleBoard([rule] + rules)
        #expect(board.records.map(\.script) == [nil, "hall.lua", "hall.lua"])
        let ended = RuleNotice.scriptEnded(script: "hall.lua", why: "no memory", restartsIn: .seconds(2))
        #expect(note(ended, &board) == ["rule", "rules"])
        #expect(board.records.map(\.scriptFault) == [nil, "no memory", "no memory"])
        #expect(board.records[1].scriptStarts == "2026-11-21T09:01:25.456Z")
        _ = board.replace([rule] + rules.dropFirst(), disabled: [], faults: [])
        #expect(board.records[1].scriptFault == "no memory")
        var own = firing
        own.rule = "hall.lua:1"
        let call = ScriptCall(id: own.id, handler: handlers[1], firing: own)
        #expect(note(.callFailed(call, "hall.lua:3: no"), &board) == ["rule", "rules"])
        #expect(board.records[1].failedBecause == "hall.lua:3: no" && board.records[1].lastFailure != nil)
        #expect(note(.scriptRuns(script: "hall.lua"), &board) == ["rule", "rules"])
        #expect(board.records[1].scriptFault == nil && board.records[1].scriptStarts == nil)
    }

    @Test("A storage failure is shown until a write succeeds")
    func thatNothingCanBeStoredIsKnownUntilItCan() {
        var board = RuleBoard([rule])
        _ = board.note(RunnerRecord(at: moment, notice: .notStored(reason: "no room")))
        #expect(board.storeFault == "no room")
        _ = board.note(RunnerRecord(at: moment, notice: .stored))
        #expect(board.storeFault == nil)
    }

    @Test("A rule is enabled until the user turns it off")
    func aRuleIsOnUntilAPersonTurnsItOff() {
        var board = RuleBoard([rule])
        #expect(board.records[0].enabled)
        #expect(note(.ruleEnabled("Movie night", false), &board) == ["rule", "rules"])
        #expect(!board.records[0].enabled)
        #expect(note(.ruleEnabled("Movie night", false), &board) == ["rule"])
    }

    @Test("Near misses are counted with their reason")
    func whatNearlyFiredIsKept() {
        var board = RuleBoard([rule])
        let miss = NearMiss(
            rule: "Movie night", trigger: rule.triggers[0], plug: "Television", since: .zero, lasted: .seconds(1),
            end: .silence)
        #expect(note(.nearMiss(miss), &board) == ["rule", "rules"])
        #expect(board.nearMisses["Movie night"] == 1)
        #expect(
            board.records[0].nearMissBecause
                == "Television rises above 40 W: it held 1 s, then the plug sent no readings")
    }

    @Test("Waiting runs are counted")
    func firingsThatWaitAreCounted() {
        var board = RuleBoard([rule])
        for _ in 0..<2 { _ = note(.step(firing, .waiting(until: .zero)), &board) }
        #expect(board.records[0].running == 1)
        _ = note(.step(firing, .timedOut(.goOn)), &board)
        #expect(board.records[0].running == 1)
        #expect(note(.step(firing, .finished), &board) == ["rule", "rules"])
        #expect(board.records[0].running == 0)
    }

    @Test("A run that stops at its timeout is no longer counted")
    func whatStoppedForWantOfTimeWaitsNoMore() {
        var board = RuleBoard([rule])
        _ = note(.step(firing, .waiting(until: .zero)), &board)
        _ = note(.step(firing, .timedOut(.stop)), &board)
        #expect(board.records[0].running == 0)
    }

    @Test("A new firing removes the rule's earlier run from the count in single mode, but not in parallel mode")
    func aRuleThatRunsOnceAtATimeHasLeftWhatWasBefore() {
        var parallel = other
        parallel.mode = .parallel(atMost: 4)
        var board = RuleBoard([rule, parallel])
        for rule in [rule, parallel] {
            var begun = firing
            begun.rule = rule.name
            _ = note(.step(begun, .waiting(until: .zero)), &board)
            _ = note(.firing(begun), &board)
        }
        #expect(board.records.map(\.running) == [0, 1])
    }

    @Test("Notices about a removed rule are not stored")
    func whatIsToldOfARuleThatHasGoneIsKeptForNobody() {
        var board = RuleBoard([rule, other])
        _ = board.replace([other], disabled: [], faults: [])
        #expect(note(.heldBack(firing, .disabled), &board) == ["rule"])
        #expect(note(.step(firing, .waiting(until: .zero)), &board) == ["rule"])
        #expect(board.heldBack.isEmpty && board.nearMisses.isEmpty)
        _ = board.replace([other, rule], disabled: [], faults: [])
        #expect(board.records[1].running == 0)
    }

    @Test("The last firing of a rule that was added later is reported")
    func theLastFiringOfARuleThatCameLaterIsTold() {
        var board = RuleBoard([other])
        _ = board.replace([other, rule], disabled: [], faults: [])
        let before = FiringRecord(at: "2026-11-20T00:00:00.000Z", rule: "Movie night", plug: nil, why: "before")
        #expect(board.begin([before]).map(\.kind) == ["rules"])
        #expect(board.records[1].lastCause == "before")
        #expect(board.begin([before]).isEmpty)
    }

    @Test("Replaced rules keep their counts")
    func rulesAreReplacedAndKeepWhatTheyDid() {
        var board = RuleBoard([rule])
        _ = note(.firing(firing), &board)
        var changed = rule
        changed.actions = [.turnOff(["Radio"])]
        let fault = RuleFileFault(path: "/r.yaml", words: "line 3: what is that?", rules: ["Bedtime"])
        let messages = board.replace([other, changed], disabled: ["Bedtime"], faults: [fault])
        #expect(messages.map(\.kind) == ["ruleSet"])
        #expect(board.records.map(\.rule) == ["Bedtime", "Movie night"])
        #expect(board.records.map(\.enabled) == [false, true])
        #expect(board.records.map(\.fault) == ["line 3: what is that?", nil])
        #expect(board.records[1].firings == 1 && board.records[1].actions == ["turn off Radio"])
        #expect(board.faults.map(\.file) == ["/r.yaml"])
        #expect(board.replace([other, changed], disabled: ["Bedtime"], faults: [fault]).isEmpty)
        #expect(board.replace([other], disabled: [], faults: []).map(\.kind) == ["ruleSet"])
        #expect(board.records.map(\.rule) == ["Bedtime"] && board.faults.isEmpty)
    }

    @Test("A notification is sent as a separate message")
    func whatARuleTellsAPersonIsAMessageOfItsOwn() {
        var board = RuleBoard([rule])
        let words = EffectRequest(id: firing.id, effect: .notify(title: "", text: "It is done"), firing: firing)
        #expect(note(.performing(words), &board) == ["rule", "notification"])
        #expect(note(.effect(words, .done), &board) == ["rule"])
    }

    @Test("A rule is found by a name that differs only in capitals if it is the only such rule")
    func aNameIsFoundInAnyCapitalsWhereItIsTheOnlyOne() {
        var capital = other
        capital.name = "BEDTIME"
        let board = RuleBoard([rule, other, capital])
        #expect(board.rule(named: "movie NIGHT")?.rule == "Movie night")
        #expect(board.rule(named: "BEDTIME")?.rule == "BEDTIME")
        #expect(board.rule(named: "bedtime") == nil && board.rule(named: "") == nil)
    }
}
