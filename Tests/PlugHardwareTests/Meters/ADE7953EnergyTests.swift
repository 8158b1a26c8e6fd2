import Metering
import PlugHardware
import ProtocolCore
import TestSupport
import Testing

@Suite struct ADE7953EnergyTests {
    @Test("The first energy after the set-up is discarded") func theFirstEnergyAfterSettingUpIsThrownAway() throws {
        let test = TestADE(fresh: true)
        test.load(watts: 1000)
        _ = fault(test.meter.measure)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours == nil)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours != nil)
    }

    @Test(
        "The energy of an hour is counted with an error of less than one step",
        arguments: [1.0, -1.0], [2.3, 60, 2000, 30_000])
    func energyIsCountedToAStepAndNothingIsLost(sign: Double, watts: Double) throws {
        let test = TestADE()
        test.load(watts: sign * watts, volts: 340)
        var total: Int64 = 0
        for second in 1...3600 {
            test.wait(second % 2 == 0 ? 0.3 : 1.7)
            total += try #require(try test.meter.measure().addedMicrowattHours)
        }
        // In one hour, 1 W is 1,000,000 µWh. The missing energy is less than one step and still in the register.
        let missing: Double = abs(Double(total) - sign * watts * 1e6)
        #expect(missing < TestADE.microwattHoursPerStep + 1)
    }

    @Test("The energy of a span that the register cannot hold is unknown")
    func aSpanThatTheRegisterCannotHoldSaysNothing() throws {
        let test = TestADE()
        test.load(watts: 31_000, volts: 345)
        test.wait(40)
        let energy = try #require(try test.meter.measure().addedMicrowattHours)
        let expected: Double = 31_000e6 * 40 / 3600
        #expect(abs(Double(energy) - expected) < 100)
        test.wait(41)
        // The register has overflowed and would show that the load fed energy back.
        #expect(try test.meter.measure().addedMicrowattHours == nil)
        test.wait(1)
        #expect(try #require(try test.meter.measure().addedMicrowattHours) > 8_000_000)
    }

    @Test("More energy than any load can draw is rejected as impossible")
    func moreEnergyThanAnyLoadDrawsIsImpossible() throws {
        let test = TestADE()
        test.load(watts: 100)
        test.wait(1)
        test.bus.withChip { $0.addEnergy(steps: 6_000_000) }
        #expect(fault(test.meter.measure)?.contains("Wh in 1.0 s") == true)
        #expect(test.meter.counters.impossible == 1)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours == nil)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours != nil)
    }

    @Test("A mean power below the no-load limit adds no energy") func whatIsBelowNoLoadOverTheSpanAddsNothing() throws {
        let test = TestADE()
        test.load(watts: 0.4)
        test.wait(10)
        #expect(try test.meter.measure().addedMicrowattHours == 0)
        // The energy of a load counts even if the load is off when it is measured.
        test.load(watts: 2000)
        test.wait(0.5)
        test.load(watts: 0)
        test.wait(0.5)
        let energy = try #require(try test.meter.measure().addedMicrowattHours)
        #expect(abs(energy - 277_778) < 50)
    }

    @Test("After an impossible measurement, the energy is part of the next one")
    func aMeasurementThatIsImpossibleKeepsTheEnergyForTheNext() throws {
        let test = TestADE()
        test.load(watts: 1000)
        test.wait(1)
        test.bus.withChip { $0.stuck[0x312] = 0xFF_FFFF }
        #expect(fault(test.meter.measure) != nil)
        test.bus.withChip { $0.stuck = [:] }
        test.wait(1)
        let energy = try #require(try test.meter.measure().addedMicrowattHours)
        #expect(abs(energy - 555_556) < 50)
    }

    @Test("The energy of a stopped counter is unknown while power flows")
    func aCounterThatStandsStillWhilePowerFlowsSaysNothing() throws {
        let test = TestADE()
        test.load(watts: 20)
        test.bus.withChip { $0.stuck[0x31E] = 0 }
        test.wait(1)
        // The previous measurement was without a load, so the load may have been on for only a part of this second.
        #expect(try test.meter.measure().addedMicrowattHours == 0)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours == nil)
        test.load(watts: 0)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours == 0)
    }

    @Test("After a bus fault, the next energy is unknown") func aBusFaultMakesTheNextEnergyUnknown() throws {
        let test = TestADE()
        test.load(watts: 1000)
        test.wait(1)
        test.bus.fail(with: .timedOut)
        #expect(fault(test.meter.measure) != nil)
        test.wait(1)
        #expect(try test.meter.measure().addedMicrowattHours == nil)
    }
}
