import Metering
import ProtocolCore
import TestSupport
import Testing

@testable import PlugHardware

/// Tests of every driver with faults of its chip or bus.
@Suite struct MeterFaultTests {
    enum Chip: CaseIterable { case ade7953, ina219, ina226, ina260 }

    /// A fresh chip with 230 V or 12 V and a load, and the calls that control it.
    private struct Bench {
        var measure: () throws(HardwareFault) -> Measurement
        var counters: () -> MeterCounters
        var fail: (Int, TransferFault) -> Void
        var failAll: (TransferFault?, UInt64) -> Void
        var setPresent: (Bool) -> Void
        var transfers: () -> Int
        var expected: Measurement

        init(_ chip: Chip) {
            switch chip {
            case .ade7953:
                let test = TestADE(fresh: true)
                test.load(watts: 460)
                self.init(test.bus, test.meter) { test.wait(1) }
                expected = Measurement(deciwatts: 4600, decivolts: 2300, milliamperes: 2000)
            case .ina219: self.init(TestINA(.ina219, fresh: true))
            case .ina226: self.init(TestINA(.ina226, shunt: 0.02, fresh: true))
            case .ina260: self.init(TestINA(.ina260, fresh: true))
            }
        }

        private init(_ test: TestINA) {
            test.bus.withChip {
                $0.volts = 12
                $0.amperes = -1.5
            }
            self.init(test.bus, test.meter) {}
        }

        private init(_ bus: ModelledBus<some ModelledChip>, _ meter: any PowerMeter, wait: @escaping () -> Void) {
            measure = { () throws(HardwareFault) in
                wait()
                return try meter.measure()
            }
            counters = { meter.counters }
            fail = { bus.fail($0, with: $1) }
            failAll = { bus.failAll(with: $0, seed: $1) }
            setPresent = { bus.setPresent($0) }
            transfers = { bus.transfers }
            expected = Measurement(deciwatts: -180, decivolts: 120, milliamperes: 1500)
        }

        func isExpected(_ measurement: Measurement) -> Bool {
            measurement.deciwatts == expected.deciwatts && measurement.decivolts == expected.decivolts
                && measurement.milliamperes == expected.milliamperes
        }
    }

    @Test(
        "With one faulty transfer at least three of six measurements succeed, and the seventh measurement is correct",
        arguments: Chip.allCases, TransferFault.allCases)
    func whateverTransferFailsIsToldOrHarmlessAndSoonOver(chip: Chip, kind: TransferFault) throws {
        // Fails each transfer of the set-up and of two measurements in turn.
        for index in 0..<(chip == .ade7953 ? 30 : 14) {
            let bench = Bench(chip)
            bench.fail(index, kind)
            var good = 0
            for _ in 0..<6 {
                guard let measured = try? bench.measure() else { continue }
                good += 1
                // A damaged value may be plausible; the driver then returns it.
                if kind != .corrupt, kind != .zeros, kind != .ones {
                    #expect(bench.isExpected(measured), "transfer \(index)")
                }
            }
            #expect(good >= 3, "transfer \(index)")
            #expect(try bench.isExpected(bench.measure()), "transfer \(index)")
        }
    }

    @Test("A missing chip is reported with a hint and may appear later", arguments: Chip.allCases)
    func aChipThatIsMissingIsToldWithWhatToTryAndMayComeLater(chip: Chip) throws {
        let bench = Bench(chip)
        bench.setPresent(false)
        for _ in 0..<5 {
            let text = try #require(fault(bench.measure))
            #expect(text.contains("does not answer") && text.contains("i2cdetect"))
        }
        #expect(bench.counters().busFaults == 5 && bench.counters().initialisations == 0)
        // The chip is addressed once per attempt, not register by register.
        #expect(bench.transfers() == 5)
        bench.setPresent(true)
        _ = fault(bench.measure)
        #expect(try bench.isExpected(bench.measure()))
    }

    @Test(
        "While a chip is missing, no value is returned. When it is back, it measures again.", arguments: Chip.allCases)
    func aChipThatDisappearsNeverLeavesItsLastValueAndComesBack(chip: Chip) throws {
        let bench = Bench(chip)
        _ = fault(bench.measure)
        #expect(try bench.isExpected(bench.measure()))
        bench.setPresent(false)
        for _ in 0..<100 { #expect(fault(bench.measure) != nil) }
        bench.setPresent(true)
        #expect(fault(bench.measure)?.contains("the next reading is valid") == true)
        #expect(try bench.isExpected(bench.measure()))
        #expect(bench.counters().busFaults == 100 && bench.counters().initialisations == 2)
    }

    @Test("A reset is detected at once, and the chip is set up again", arguments: Chip.allCases)
    func aResetIsNoticedAtOnceAndTheChipSetUpAgain(chip: Chip) throws {
        let bench = Bench(chip)
        _ = fault(bench.measure)
        #expect(try bench.isExpected(bench.measure()))
        bench.fail(0, .reset)
        #expect(fault(bench.measure)?.contains("lost its settings") == true)
        #expect(bench.counters().initialisations == 2 && bench.counters().busFaults == 0)
        #expect(try bench.isExpected(bench.measure()))
    }

    @Test("A bus fault makes one measurement fail", arguments: Chip.allCases, [TransferFault.timedOut, .short])
    func aFaultOfTheBusCostsOneMeasurement(chip: Chip, kind: TransferFault) throws {
        let bench = Bench(chip)
        _ = fault(bench.measure)
        _ = try bench.measure()
        bench.fail(1, kind)
        let text = try #require(fault(bench.measure))
        #expect(text.contains(kind == .timedOut ? "stuck" : "instead of"))
        // The chip kept its settings. The next call writes them again and measures.
        #expect(try bench.isExpected(bench.measure()))
        #expect(bench.counters().busFaults == 1 && bench.counters().initialisations == 2)
    }

    @Test(
        "A bus with constant answers never results in a measurement",
        arguments: Chip.allCases, [TransferFault.ones, .zeros])
    func aBusThatAnswersNonsenseIsNeverAMeasurement(chip: Chip, kind: TransferFault) throws {
        let bench = Bench(chip)
        bench.failAll(kind, 1)
        for _ in 0..<20 { #expect(fault(bench.measure) != nil) }
        bench.failAll(nil, 1)
        _ = fault(bench.measure)
        #expect(try bench.isExpected(bench.measure()))
        // This also applies after successful measurements.
        bench.failAll(kind, 1)
        for _ in 0..<20 { #expect(fault(bench.measure) != nil) }
    }

    @Test("A power of 10 kW at an apparent power of 4 VA is impossible")
    func tenKilowattsBelowFiveVoltAmperesAreImpossible() throws {
        let test = TestADE()
        test.load(watts: 4)
        test.bus.withChip { $0.stuck[0x312] = 1_540_000 }
        #expect(fault(test.meter.measure)?.contains("10000.0 W") == true)
        test.bus.withChip { $0.stuck[0x312] = UInt32(bitPattern: -1_540_000) }
        #expect(fault(test.meter.measure)?.contains("-10000.0 W") == true)
        test.bus.withChip { $0.stuck = [0x314: 1_540_000] }
        #expect(fault(test.meter.measure) != nil)
        #expect(test.meter.counters.impossible == 3)
    }

    @Test(
        "A register beyond full scale is impossible",
        arguments: [0x31C, 0x31A, 0x312, 0x314] as [UInt16],
        [0xFF_FFFF, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000] as [UInt32])
    func aFullRegisterIsImpossible(register: UInt16, value: UInt32) throws {
        // In a signed register, all ones are -1, which is a valid value.
        guard value != 0xFFFF_FFFF || register >= 0x31A else { return }
        let test = TestADE()
        test.load(watts: 1000)
        test.bus.withChip { $0.stuck[register] = value }
        #expect(fault(test.meter.measure)?.contains("beyond the range of the chip's inputs") == true)
        #expect(test.meter.counters.impossible == 1)
    }

    @Test("An energy register of all ones is one negative step, which adds no energy")
    func anEnergyOfAllOnesIsAStepAndNoMore() throws {
        let test = TestADE()
        test.load(watts: 1000)
        test.clock.advance(1)
        test.bus.withChip { $0.stuck[0x31E] = 0xFFFF_FFFF }
        #expect(try #require(try test.meter.measure().addedMicrowattHours) == 0)
    }

    @Test("A frequency out of the range of mains is omitted") func aFrequencyThatNoMainsHasIsLeftOut() throws {
        let test = TestADE(fresh: true)
        _ = fault(test.meter.measure)
        test.wait(1)
        test.bus.withChip { $0.stuck[0x10E] = 0xFFFF }
        let measured = try test.meter.measure()
        #expect(measured.alternating != nil && measured.alternating?.millihertz == nil)
    }

    @Test("A chip that answers but no longer measures is reported")
    func aChipThatAnswersAndMeasuresNoMoreIsTold() throws {
        let test = TestADE()
        test.load(watts: 1000)
        for _ in 0..<ADE7953Chip.sameValuesLimit { _ = try test.meter.measure() }
        #expect(fault(test.meter.measure)?.contains("seems to have stopped") == true)
        test.load(watts: 1001)
        _ = try test.meter.measure()
    }

    @Test("A chip that stores no settings is not an ADE7953") func anADE7953ThatKeepsNothingIsAnotherChip() {
        let test = TestADE(fresh: true)
        test.bus.withChip { $0.stuck[0x303] = 58_393 }
        #expect(fault(test.meter.measure)?.contains("not an ADE7953") == true)
        #expect(test.meter.counters.initialisations == 0)
    }
}
