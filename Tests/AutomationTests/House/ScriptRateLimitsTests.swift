import ProtocolCore
import Testing

@testable import DurableRules
@testable import RuleModel

@Suite struct ScriptRateLimitsTests {
    @Test("Commands beyond the limit are reported at once, and all further ones of the next minute in one notice")
    func commands() {
        var limits = ScriptRateLimits()
        limits.holdBack(3, of: "hall.lua")
        #expect(limits.notices(now: .at(1)) { _ in 0 } == [.commandsHeldBack(script: "hall.lua", count: 3)])
        let next = Instant.at(1) + ScriptLimits.span
        #expect(limits.deadline == next)
        limits.holdBack(1, of: "hall.lua")
        limits.holdBack(1, of: "hall.lua")
        let isQuiet = limits.notices(now: .at(2)) { _ in 0 }.isEmpty
        #expect(isQuiet)
        #expect(limits.notices(now: next) { _ in 0 } == [.commandsHeldBack(script: "hall.lua", count: 2)])
    }

    @Test("A timer beyond the limit ends later, and a notice is due at its original end")
    func timers() {
        var limits = ScriptRateLimits()
        #expect(limits.end(ofTimerDue: .at(5), of: "hall.lua") == .at(5))
        let allowed = limits.takeTimers(ScriptLimits.commands + 1, of: "hall.lua", now: .at(0))
        #expect(allowed == ScriptLimits.commands)
        #expect(limits.end(ofTimerDue: .at(5), of: "hall.lua") == .at(0) + ScriptLimits.span)
        limits.findDeadline()
        #expect(limits.deadline == .at(5))
        #expect(limits.notices(now: .at(5)) { _ in 1 } == [.timersHeldBack(script: "hall.lua", count: 1)])
        limits.forget("hall.lua")
        limits.findDeadline()
        #expect(limits.deadline == nil)
    }
}
