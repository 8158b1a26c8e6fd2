import Foundation
import PlugProtocol
import PlugModel
import ProtocolCore
import SimulatedLAN
import Testing

/// A plug whose flash is slow, and well.
@Suite struct SlowFlashTests {
    private let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)

    /// Kills, power cuts and a bad network beside it: no number leaps, none repeats, and a killed process leaves the events that
    /// wait to the next one.
    @Test func aSlowFlashDelaysEventsAndLeapsOverNoNumber() throws {
        var (waited, overKill, seen) = (0, 0, 0)
        try plan.run { (seed) throws(SimulationFailure) in
            var house = SessionHouse(seed: seed, flashTime: .seconds(5))
            try house.run()
            guard !house.plug.truth.hadLateFlash else { throw house.lan.failure("the numbers leapt") }
            waited += house.plug.truth.waited
            overKill += house.plug.truth.waitedOverKill
            seen += house.controllers.map(\.controller.database.seen.count).reduce(0, +)
        }
        // Where no event waits, nothing is shown.
        #expect(waited > plan.seeds.count && seen > plan.seeds.count)
        if plan.seeds.count >= 50 { #expect(overKill > 0) }
        print("\(waited) events waited for flash, \(overKill) over a kill")
    }

    /// One that takes longer than it may is told as a gap, and the plug goes on.
    @Test func aFlashThatTakesTooLongIsLeftBehind() throws {
        var leaps = 0
        try plan.run { (seed) throws(SimulationFailure) in
            var house = SessionHouse(seed: seed, flashTime: .seconds(60))
            try house.run()
            if house.plug.truth.hadLateFlash { leaps += 1 }
        }
        #expect(leaps > plan.seeds.count / 2)
    }
}
