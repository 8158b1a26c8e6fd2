import Metering
import PlugHardware
import ProtocolCore
import Testing

@Suite struct ApplianceModelTests {
    /// Returns the seconds at which the power rises above the threshold.
    private func rises(_ watts: [Double], above threshold: Double) -> [Int] {
        watts.indices.dropFirst().filter { watts[$0 - 1] <= threshold && watts[$0] > threshold }
    }

    @Test("A television rises above 40 W within seconds and stays there", arguments: 1...20 as ClosedRange<UInt64>)
    func aTelevisionRisesAboveFortyWattsWithinSecondsAndStays(seed: UInt64) throws {
        let plug = TestPlug(.appliance(.television, .standby), seed: seed)
        plug.wait(100)
        #expect(try plug.watch(seconds: 60).allSatisfy { $0 < 2 })
        plug.plug.change(load: .appliance(.television, .on))
        let on = try plug.watch(seconds: 3600)
        let crossing = try #require(on.firstIndex { $0 > 40 })
        #expect((2...5).contains(crossing) || crossing == 0)
        #expect(on[5...].allSatisfy { (110...150).contains($0) })
        #expect(Set(on[5...]).count > 50)
        plug.plug.change(load: .appliance(.television, .standby))
        plug.wait(3)
        #expect(try plug.watts < 1)
    }

    @Test("A refrigerator has 36 cycles per day, each with an inrush", arguments: 1...5 as ClosedRange<UInt64>)
    func aRefrigeratorsDayHasCyclesEachWithAnInrush(seed: UInt64) throws {
        let plug = TestPlug(.appliance(.refrigerator, .on), seed: seed)
        let day = try plug.watch(seconds: 86_400)
        let starts = [0] + rises(day, above: 50)
        #expect(starts.count == 36)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { (1900...2900).contains($1 - $0) })
        // With one sample per second, the first sample of a cycle is within the first second of the inrush, above 300
        // W.
        #expect(starts.allSatisfy { day[$0] > 300 })
        #expect(starts.allSatisfy { (115...165).contains(day[$0 + 60]) && day[$0 + 600] < day[$0 + 60] })
        let duty = Double(day.count { $0 > 50 }) / 86_400
        #expect((0.28...0.38).contains(duty))
        #expect(day.filter { $0 <= 50 }.allSatisfy { $0 < 1 })
    }

    @Test("A kettle stops automatically and counts only the time with power")
    func aKettleStopsByItselfAndCountsOnlyTheTimeWithPower() throws {
        let plug = TestPlug(.appliance(.kettle, .off))
        #expect(try plug.watts == 0)
        plug.plug.change(load: .appliance(.kettle, .on))
        plug.wait(100)
        #expect(try (1900...2200).contains(plug.watts))
        plug.plug.set(on: false)
        plug.wait(1000)
        plug.plug.set(on: true)
        plug.wait(79)
        #expect(try plug.watts > 1900)
        plug.wait(1)
        #expect(try plug.watts == 0)
        plug.plug.change(load: .appliance(.kettle, .on))
        #expect(try plug.watts > 1900)
    }

    @Test("A washing machine heats, tumbles, spins and pauses between anti-crease turns")
    func aWashHeatsTumblesSpinsAndRestsBetweenAntiCreaseTurns() throws {
        let plug = TestPlug(.appliance(.washingMachine, .on))
        let wash = try plug.watch(seconds: 6000)
        #expect(wash[200..<890].allSatisfy { $0 > 1800 })
        let tumble = wash[1000..<2600]
        #expect(tumble.max()! > 150 && tumble.min()! < 6)
        #expect(wash[3290] > wash[2800] && wash[3290] > 380)
        let antiCrease = wash[3300..<5100]
        #expect(rises(Array(antiCrease), above: 50).count == 11)
        // A simple rule that waits for low power would report the end of the wash in one of these pauses.
        #expect(antiCrease.count { $0 < 5 } > 1600)
        #expect(wash[5100...].allSatisfy { $0 < 2 })
    }

    @Test("An amplifier has an inrush when the relay closes") func anAmplifierDrawsAnInrushWhenTheRelayCloses() throws {
        let plug = TestPlug(.appliance(.amplifier, .on), relayOn: false)
        plug.wait(500)
        #expect(try plug.watts == 0)
        plug.plug.set(on: true)
        #expect(try plug.watts > 300)
        plug.wait(3)
        #expect(try plug.watch(seconds: 600).allSatisfy { (42...48).contains($0) })
    }

    @Test("The power of a lamp follows the level") func aLampFollowsTheLevel() throws {
        let plug = TestPlug(.appliance(.lamp, .on))
        plug.wait(10)
        for (fraction, watts) in [(1.0, 60.0), (0.5, 30), (0.01, 0.6), (0, 0)] {
            plug.plug.set(fraction: fraction)
            #expect(try abs(plug.watts - watts) <= watts * 0.03 + 0.05)
        }
    }

    @Test("The charging power of a laptop decays with bursts") func aLaptopsChargingDecaysWithBursts() throws {
        let plug = TestPlug(.appliance(.laptop, .on))
        let day = try plug.watch(seconds: 14_400)
        let first = day[60..<1100].reduce(0, +) / 1040
        let last = day[13_000...].reduce(0, +) / 1400
        #expect(first > 50 && last < 16)
        #expect(day[1...].allSatisfy { (8...65.1).contains($0) })
        #expect(rises(Array(day[13_000...]), above: 20).count > 10)
    }

    @Test(
        "Every mode draws nothing without power and is reproducible by its seed",
        arguments: SimulatedAppliance.allCases)
    func everyModeDrawsWithoutPowerExactlyNothingAndAlwaysTheSameForASeed(appliance: SimulatedAppliance) throws {
        for mode in appliance.modes {
            let plug = TestPlug(.appliance(appliance, mode), seed: 7)
            let twin = TestPlug(.appliance(appliance, mode), seed: 7)
            let watts = try plug.watch(seconds: 3000)
            #expect(try watts == twin.watch(seconds: 3000))
            #expect(watts.allSatisfy { (0...2600).contains($0) })
            plug.plug.set(on: false)
            let off = try plug.plug.measure()
            #expect(off.deciwatts == 0 && off.milliamperes == 0)
            #expect((2260...2340).contains(try #require(off.decivolts)))
            if mode == .off { #expect(watts.allSatisfy { $0 == 0 }) }
        }
    }

    @Test("A higher speed shortens the kettle's boiling and does not change the clock")
    func speedShortensTheKettlesBoilingButNotTheClock() throws {
        let plug = TestPlug(.appliance(.kettle, .on), speed: 60)
        plug.wait(2.9)
        #expect(try plug.watts > 1900)
        plug.wait(0.2)
        #expect(try plug.watts == 0)
    }
}
