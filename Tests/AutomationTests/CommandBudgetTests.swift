import PlugModel
import ProtocolCore
import Testing

@testable import DurableRules
@testable import RuleModel

@Suite struct CommandBudgetTests {
    @Test("At most 60 commands are granted within any minute")
    func sixtyWithinAnyMinute() {
        var budget = CommandBudget()
        var granted: [Instant] = []
        for step in 0..<3000 {
            let now = Instant.at(Double(step) * 0.1)
            granted += Array(repeating: now, count: budget.take(step % 4, now: now))
        }
        for (index, instant) in granted.enumerated().dropFirst(60) {
            #expect(instant - granted[index - 60] >= .seconds(60))
        }
        #expect(granted.count == 300, "the budget must grant 60 commands per minute")
    }

    @Test("Commands and effects beyond the budget are removed from the end, and the actions keep their indices")
    func whatIsHeldBackStandsAtTheEndAndEverythingKeepsItsPlace() {
        var budget = CommandBudget()
        #expect(budget.take(56, now: .at(1)) == 56)
        let wanted: [RuleAction] = [
            .turnOn(["A", "B"], autoOff: .seconds(5)), .notify(title: nil, text: "n"), .toggle(["C", "D"]),
            .turnOff(["E"]),
            .run(["x"], timeout: .seconds(1)),
        ]
        let (actions, heldBack) = budget.take(wanted, now: .at(2))
        let kept: [RuleAction] = [
            .turnOn(["A", "B"], autoOff: .seconds(5)), .notify(title: nil, text: "n"), .toggle(["C"]), .turnOff([]),
            .turnOff([]),
        ]
        #expect(actions == kept && heldBack == 3)
        #expect(budget.take(1, now: .at(60.9)) == 0 && budget.take(58, now: .at(61)) == 56)
        #expect(budget.take(-1, now: .at(61)) == 0)
    }
}
