import Testing

@testable import Automation
@testable import DurableRules

@Suite struct TraceBudgetTests {
    private static let day: Int64 = 86_400_000

    private func trace(_ number: Int, of rule: String = "Movie") -> RuleTrace {
        RuleTrace(id: "\(rule) \(number)", rule: rule, at: 0, outcome: .fired, cause: "")
    }

    @Test("Each rule has a budget of trace bytes per day, and reaching it is reported once")
    func ofEachRuleSoMuchIsKeptInADayAndTheEndIsToldOnce() {
        var budget = TraceBudget()
        var kept = 0
        var told = 0
        for number in 0..<20_000 {
            switch budget.admit(trace(number), size: 1000, at: 5 * Self.day + Int64(number)) {
            case .kept: kept += 1000
            case .leftOut(let isFirst): told += isFirst ? 1 : 0
            }
        }
        #expect((TraceBudget.bytes..<TraceBudget.bytes + 1000).contains(kept) && told == 1)
        #expect(budget.admit(trace(1, of: "Other"), size: 1000, at: 5 * Self.day) == .kept)
        #expect(budget.admit(trace(30_000), size: 1000, at: 6 * Self.day) == .kept)
    }

    @Test("If the first part of a trace was kept, its later parts are kept beyond the budget")
    func aFiringThatIsKeptIsKeptToItsEnd() {
        var budget = TraceBudget()
        #expect(budget.admit(trace(1), size: TraceBudget.bytes, at: 0) == .kept)
        #expect(budget.admit(trace(2), size: 10, at: 1) == .leftOut(isFirst: true))
        #expect(budget.admit(trace(1), size: 10, at: 2) == .kept)
        #expect(budget.admit(trace(2), size: 10, at: 3) == .leftOut(isFirst: false))
    }
}
