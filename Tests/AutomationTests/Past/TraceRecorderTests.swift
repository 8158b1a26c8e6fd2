import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite struct TraceBookTests {
    private let rule = Rule(
        name: "Movie", triggers: [.button(plug: "Hall", .single)],
        conditions: [.relay(plug: "Lamp", on: true), .present(plug: "Fan", true)], actions: [.turnOff(["Lamp"])])

    private func firing(_ number: UInt8 = 1, judged: [Bool] = [true, true]) -> Firing {
        var firing = Firing(
            id: id(number), rule: "Movie",
            cause: Firing.Cause(
                .trigger(.button(plug: "Hall", .single)), plug: "Hall", since: Instant(nanoseconds: 2_000_000_000)),
            time: Instant(nanoseconds: 5_000_000_000))
        firing.judged = judged
        return firing
    }

    private func id(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }

    private func command(_ number: UInt8) -> CommandRequest {
        CommandRequest(id: id(number), plug: "Lamp", command: .setRelay(on: false, autoOff: nil))
    }

    private func kept(_ number: UInt8) -> StoredRuleState.Command {
        StoredRuleState.Command(
            request: command(number), plug: PlugID(rawValue: "00000000a001")!, rule: "Movie", cause: "", event: nil,
            until: .zero)
    }

    @Test("A firing's trace includes its commands and their answers")
    func aFiringGrowsWithItsCommandsAndTheirAnswers() throws {
        var book = TraceRecorder(rules: [rule])
        let first = try book.told(.firing(firing()), at: 10_000)
        #expect(first.since == 7000 && first.plug == "Hall" && first.outcome == .fired)
        #expect(first.conditions.map(\.condition) == ["Lamp is on", "Fan is there"])
        _ = book.record(.commanded(command(2), firing()), at: 10_001)
        let answered = try book.told(.command(kept(2), .done(PlugState(relayOn: false), event: 4)), at: 10_040)
        #expect(answered.id == first.id && answered.steps.count == 1)
        #expect(answered.steps[0].what == "turn off Lamp")
        #expect(answered.steps[0].answered == 10_040 && answered.steps[0].outcome == "done")
    }

    @Test("An answer after a restart is added to its command")
    func anAnswerAfterARestartFindsItsCommand() throws {
        var book = TraceRecorder(rules: [rule])
        _ = book.record(.firing(firing()), at: 10_000)
        let told = try book.told(.commanded(command(2), firing()), at: 10_001)
        var next = TraceRecorder(rules: [rule], resuming: [told])
        let refused = CommandOutcome.refused(Refusal(.busy, "too much to do"))
        let answered = try next.told(.command(kept(2), refused), at: 12_000)
        #expect(answered.id == told.id && answered.steps[0].outcome == "busy: too much to do")
        let unknown = next.record(.command(kept(9), refused), at: 12_000)
        #expect(unknown == nil)
    }

    @Test("A held-back firing's trace has the result of each condition")
    func whatWasHeldBackHasEachConditionJudged() throws {
        var book = TraceRecorder(rules: [rule])
        let held = firing(judged: [true, false])
        let trace = try book.told(.heldBack(held, .condition(.present(plug: "Fan", true))), at: 10_000)
        #expect(trace.outcome == .heldBack && trace.conditions.map(\.held) == [true, false])
        #expect(trace.why == "condition does not hold: Fan is there")
        let cooling = HoldBack.cooldown(until: Instant(nanoseconds: 9_000_000_000))
        let waiting = try book.told(.heldBack(held, cooling), at: 10_000)
        #expect(waiting.why == "cooling down for 4 s more")
    }

    @Test("The trace of a near miss contains its duration and the power at its end")
    func aNearMissTellsHowLongItHeldAndWithWhat() throws {
        var book = TraceRecorder()
        let miss = NearMiss(
            rule: "Movie",
            trigger: .activePower(plug: "TV", PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))),
            plug: "TV", since: Instant(nanoseconds: 1), lasted: .milliseconds(1200), end: .wentBack(12))
        let trace = try book.told(.nearMiss(miss), at: 10_000)
        #expect(trace.outcome == .nearMiss && trace.since == 8800 && trace.value == 12)
        #expect(trace.cause == "TV rises above 40 W for 3 s")
        #expect(trace.why == "it held 1.2 s, then the power was 12 W")
        let again = try book.told(.nearMiss(miss), at: 10_000)
        #expect(again.id == trace.id)
    }

    @Test("The numbers of steps and of open firings are limited")
    func stepsAndOpenFiringsAreBounded() throws {
        var book = TraceRecorder(rules: [rule])
        _ = book.record(.firing(firing()), at: 0)
        for _ in 0..<RuleTrace.stepLimit { _ = book.record(.commanded(command(2), firing()), at: 1) }
        let full = try book.told(.commanded(command(2), firing()), at: 1)
        #expect(full.steps.count == RuleTrace.stepLimit && full.omitted == 1)
        for number in 0...TraceRecorder.openLimit {
            var other = firing()
            other.id = RequestID(bytes: [UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 7, count: 14))!
            _ = book.record(.firing(other), at: 2)
        }
        // The recorder keeps the first firing, which waits for answers, and drops others. A later step of a dropped
        // firing is reported without the start of its trace.
        #expect(try book.told(.step(firing(), .finished), at: 3).steps.count == RuleTrace.stepLimit)
        var other = firing()
        other.id = RequestID(bytes: [0, 0] + [UInt8](repeating: 7, count: 14))!
        let anew = try book.told(.step(other, .finished), at: 6000)
        #expect(anew.steps.isEmpty && anew.isPart == true && anew.finished == 6000 && anew.at == 5000)
    }

    @Test("The trace of a waiting run is kept although many other firings follow")
    func aRunThatWaitsIsKeptWhileOthersComeAndGo() throws {
        var book = TraceRecorder(rules: [rule])
        _ = book.record(.firing(firing()), at: 0)
        let waiting = try book.told(.step(firing(), .waiting(until: Instant(nanoseconds: 9))), at: 1)
        #expect(waiting.isWaiting == true)
        for number in 0..<2 * TraceRecorder.openLimit {
            var other = firing()
            other.id = RequestID(bytes: [UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 7, count: 14))!
            _ = book.record(.commanded(command(2), other), at: 2)
        }
        let ended = try book.told(.step(firing(), .timedOut(.stop)), at: 3)
        #expect(ended.isPart == nil && ended.steps.count == 2 && ended.isWaiting == nil && ended.finished == 3)
    }
}

extension TraceRecorder {
    /// Handles a notice. The monotonic clock of these firings equals the wall clock.
    fileprivate mutating func record(_ notice: RuleNotice, at milliseconds: Int64) -> RuleTrace? {
        record(notice, at: milliseconds, now: Instant(nanoseconds: milliseconds * 1_000_000))
    }

    fileprivate mutating func told(_ notice: RuleNotice, at milliseconds: Int64) throws -> RuleTrace {
        let trace = record(notice, at: milliseconds)
        return try #require(trace)
    }
}
