import Foundation
import SimulatedLAN
import Testing

@Suite struct HouseholdTests {
    /// Through faults no event is lost or doubled, no command takes effect twice, and no rule fires on what it did not see
    /// happen; after them the house does what the rules say.
    @Test func rulesFireOnceForWhatHappens() throws {
        var (firings, confirmed, gaps) = (0, 0, 0)
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            var house = Household(seed: seed)
            try house.run()
            firings += house.controller.firings.count
            confirmed += house.controller.commands.count { $0.outcome != nil }
            gaps += house.controller.records.values.map(\.gaps.count).reduce(0, +)
        }
        // The house was alive and the faults were real.
        #expect(firings > 3 && confirmed > 3)
        print("\(firings) firings, \(confirmed) commands answered, \(gaps) gaps")
    }
}
