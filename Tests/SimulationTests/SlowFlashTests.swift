import Foundation
import PlugProtocol
import PlugModel
import ProtocolCore
import SimulatedLAN
import Testing

/// A plug whose flash is slow, but works.
@Suite struct SlowFlashTests {
    private let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)

    /// With kills, power cuts and a bad network, no number is skipped or repeated, and a killed process leaves its
    /// waiting events to the next one.
    @Test("Slow flash delays events, but no event number is skipped")
    func aSlowFlashDelaysEventsAndLeapsOverNoNumber() throws {
        var (waited, overKill, seen) = (0, 0, 0)
        try plan.run { (seed) throws(SimulationFailure) in
            var house = SessionHouse(seed: seed, flashTime: .seconds(5))
            try house.run()
            guard !house.plug.truth.hadLateFlash else { throw house.lan.failure("numbers were skipped") }
            waited += house.plug.truth.waited
            overKill += house.plug.truth.waitedOverKill
            seen += house.controllers.map(\.controller.database.seen.count).reduce(0, +)
        }
        // Without waiting events the test would prove nothing.
        #expect(waited > plan.seeds.count && seen > plan.seeds.count)
        if plan.seeds.count >= 50 { #expect(overKill > 0) }
        print("\(waited) events waited for flash, \(overKill) until after a kill")
    }

    /// If a write takes longer than allowed, the plug reports the skipped numbers as a gap and continues.
    @Test("The plug skips event numbers and continues when flash takes too long")
    func aFlashThatTakesTooLongIsLeftBehind() throws {
        var leaps = 0
        try plan.run { (seed) throws(SimulationFailure) in
            var house = SessionHouse(seed: seed, flashTime: .seconds(60))
            try house.run()
            if house.plug.truth.hadLateFlash { leaps += 1 }
        }
        #expect(leaps > plan.seeds.count / 2)
    }
}
