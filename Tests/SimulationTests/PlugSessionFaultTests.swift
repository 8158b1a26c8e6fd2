import Foundation
import PlugModel
import SimulatedLAN
import Testing

@Suite struct PlugSessionFaultTests {
    /// Every event of the journal is received exactly once and in order, or lies in a reported gap with a real cause.
    /// Within a boot, an acknowledged command has exactly the effect that its answer names. Fetched samples equal the
    /// measured ones.
    @Test("Despite faults, each event is received once or lies in a gap, and no command or sample is lost")
    func nothingIsLostAndNothingComesTwice() throws {
        var (seen, acknowledged, sessions, samples, again) = (0, 0, 0, 0, 0)
        var gaps: [Gap.Reason: Int] = [:]
        try SeedPlan(environment: ProcessInfo.processInfo.environment).run { (seed) throws(SimulationFailure) in
            var house = SessionHouse(seed: seed)
            try house.run()
            for (_, controller) in house.controllers {
                seen += controller.database.seen.count
                for gap in controller.database.gaps { gaps[gap.gap.reason, default: 0] += 1 }
                acknowledged += controller.database.acknowledged.count
                sessions += controller.sessions
                samples += controller.database.samples.values.map(\.count).reduce(0, +)
                again += controller.database.acknowledged.keys.count { house.effects(of: $0).count > 1 }
            }
        }
        // The houses were active: events, answers and samples arrived, in more than two sessions.
        #expect(seen > 0 && acknowledged > 0 && samples > 0 && sessions > 2)
        let told = gaps.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", ")
        print("\(seen) events, gaps: \(told); \(acknowledged) commands (\(again) repeated after a loss of power)")
        print("\(samples) samples fetched, \(sessions) sessions")
    }

    @Test("Two runs with the same seed give the same events")
    func theSameSeedGivesTheSameHouse() throws {
        func run() throws -> [[PlugEvent]] {
            var house = SessionHouse(seed: 5)
            try house.run()
            return house.controllers.map(\.controller.database.seen)
        }
        let first = try run()
        let second = try run()
        #expect(first == second)
    }
}
