import Foundation
import SimulatedLAN
import Testing

@Suite struct HouseholdTests {
    /// During faults each event is received once or lies in a reported gap, no command takes effect twice, and no rule
    /// fires on a change that the controller did not observe. Afterwards the rules act as written.
    @Test("Rules fire exactly once per observed change despite faults")
    func rulesFireOnceForWhatHappens() throws {
        var (firings, confirmed, gaps) = (0, 0, 0)
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            var house = Household(seed: seed)
            try house.run()
            firings += house.controller.firings.count
            confirmed += house.controller.commands.count { $0.outcome != nil }
            gaps += house.controller.records.values.map(\.gaps.count).reduce(0, +)
        }
        // The house was active and the faults took effect.
        #expect(firings > 3 && confirmed > 3)
        print("\(firings) firings, \(confirmed) commands answered, \(gaps) gaps")
    }
}
