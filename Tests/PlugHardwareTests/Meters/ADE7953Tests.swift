import Metering
import ProtocolCore
import TestSupport
import Testing

@testable import PlugHardware

@Suite struct ADE7953Tests {
    private typealias C = ADE7953Constants

    @Test("The constants match the data sheet") func itsConstantsAreThoseOfTheDataSheet() {
        #expect(ADE7953Chip.addresses == 0x38...0x38)
        #expect([C.disableNoLoad, C.lineCycleMode, C.unlock] == [0x001, 0x004, 0x0FE])
        #expect([C.config, C.period, C.required] == [0x102, 0x10E, 0x120])
        #expect([C.activeNoLoad, C.reactiveNoLoad, C.voltageRMS] == [0x303, 0x304, 0x31C])
        #expect([C.configDefault, C.configValue, C.unlockValue, C.requiredValue] == [0x8004, 0x0004, 0xAD, 0x30])
        #expect([C.noLoadOff, C.noLoadLevel, C.readClears, C.unityGain] == [7, 29_196, 0x40, 0x400000])
        #expect([C.fullScaleRMS, C.fullScalePower, C.fullScaleEnergyRate] == [9_032_007, 4_862_401, 206_900])
        #expect([C.periodClock, C.phaseStep] == [223_750, 1.117])
        // At full scale, a register of 23 bits overflows after slightly more than these 40 s.
        #expect(C.energyRange == 40 && C.energyRange < Double(1 << 23) / C.fullScaleEnergyRate)
        let a = C.channelA
        let b = C.channelB
        #expect(
            [a.currentRMS, a.activePower, a.reactivePower, a.activeEnergy, a.phase] == [
                0x31A, 0x312, 0x314, 0x31E, 0x108,
            ])
        #expect(
            [b.currentRMS, b.activePower, b.reactivePower, b.activeEnergy, b.phase] == [
                0x31B, 0x313, 0x315, 0x31F, 0x109,
            ])
        #expect(a.gains == [0x380, 0x381, 0x382, 0x383, 0x384])
        #expect(!b.gains.contains(0x38D))
    }

    @Test("The chip is set up in the order of the data sheet", arguments: [ADE7953.Board.Channel.a, .b])
    func itIsSetUpInTheOrderOfTheDataSheet(channel: ADE7953.Board.Channel) throws {
        let test = TestADE(board: .init(channel: channel), fresh: true)
        #expect(fault(test.meter.measure)?.contains("the next reading is valid") == true)
        let gains: [UInt16] =
            channel == .a ? [0x380, 0x381, 0x382, 0x383, 0x384] : [0x381, 0x38C, 0x38E, 0x38F, 0x390]
        var expected: [(UInt16, UInt32)] = [
            (0x102, 0x0004), (0x0FE, 0xAD), (0x120, 0x0030), (0x001, 7), (0x303, 29_196), (0x304, 29_196), (0x001, 0),
            (0x004, 0x40),
        ]
        expected += gains.map { ($0, 0x400000) }
        expected.append((channel == .a ? 0x108 : 0x109, 0))
        #expect(test.bus.writes == expected.map { RegisterWrite(register: $0.0, value: $0.1) })
        #expect(test.bus.transfers == 17)
        #expect(test.bus.withChip { $0.hasRequiredSetting && $0.read(0x303) == 29_196 && $0.read(0x304) == 29_196 })
        #expect(test.meter.counters.initialisations == 1)
    }

    @Test("The chip measures only after its filters have settled")
    func itMeasuresOnlyOnceItsFiltersHaveSettled() throws {
        let test = TestADE(fresh: true)
        _ = fault(test.meter.measure)
        test.clock.advance(0.199)
        #expect(fault(test.meter.measure) != nil)
        test.clock.advance(0.001)
        #expect(try test.meter.measure().decivolts == 2300)
        #expect(test.meter.counters.initialisations == 1)
    }

    @Test("A chip that is already set up measures at once") func aChipThatIsSetUpAlreadyMeasuresAtOnce() throws {
        let test = TestADE()
        let clock = test.clock
        let second = ADE7953(bus: test.bus) { clock.now }
        #expect(try second.measure().decivolts == 2300)
    }

    @Test("A measurement takes six transfers, every tenth one seven")
    func aMeasurementTakesSixTransfersAndEveryTenthSeven() throws {
        let test = TestADE(fresh: true)
        _ = fault(test.meter.measure)
        test.wait(1)
        var counts: [Int] = []
        for _ in 0..<21 {
            let before = test.bus.transfers
            _ = try test.meter.measure()
            counts.append(test.bus.transfers - before)
            test.wait(1)
        }
        let expected = (0..<21).map { $0 % 10 == 0 ? 7 : 6 }
        #expect(counts == expected)
    }

    @Test("Every quantity is accurate to less than one step") func everyQuantityIsRightToLessThanAStep() throws {
        var limits = ADE7953.limits
        limits.noLoadPower = 0
        limits.noLoadCurrent = 0
        let test = TestADE(limits: limits)
        var random = SeededRandom(seed: 0xADE)
        for round in 0..<20_000 {
            // Every tenth voltage and every tenth current is at full scale.
            let volts = round % 10 == 0 ? 347.3848846 : Double.random(in: 0...347, using: &random)
            let amperes = round % 10 == 1 ? 90.32007 : Double.random(in: 0...90, using: &random)
            let angle = Double.random(in: -1...1, using: &random)
            let watts = volts * amperes * angle
            let vars = volts * amperes * (1 - angle * angle).squareRoot() * (random.chance(0.5) ? 1 : -1)
            test.bus.withChip {
                $0.volts = volts
                $0.amperes = amperes
                $0.watts = watts
                $0.vars = vars
            }
            let measured = try test.meter.quantities()
            let steps = [
                (measured.voltageRMS! - volts) * 26_000, (measured.currentRMS! - amperes) * 100_000,
                (measured.activePower - watts) * 154, (measured.reactivePower! - vars) * 154,
            ]
            guard steps.allSatisfy({ abs($0) < 1 }) else { Issue.record("off by \(steps) steps"); return }
        }
    }

    @Test(
        "A step of the power register is 1/154 W",
        arguments: [-4_862_401, -4_862_400, -155, -154, -1, 0, 1, 153, 154, 65_535, 4_862_400, 4_862_401] as [Int32])
    func aRegisterIsItsValueOver154Watts(steps: Int32) throws {
        var limits = ADE7953.limits
        limits.noLoadPower = 0
        limits.powerSlack = .infinity
        let test = TestADE(limits: limits)
        test.bus.withChip { $0.stuck[0x312] = UInt32(bitPattern: steps) }
        let watts: Double = Double(steps) / 154
        #expect(abs(try test.meter.quantities().activePower - watts) < 1e-9)
    }

    @Test("A measurement is rounded once from the quantities")
    func aMeasurementIsRoundedOnceFromTheQuantities() throws {
        let test = TestADE()
        test.bus.withChip { $0.hertz = 49.98 }
        test.load(watts: 1234.56, vars: -321)
        // The period is read with the tenth measurement after the first.
        for _ in 0..<10 { _ = try test.meter.measure() }
        let measured = try test.meter.measure()
        #expect(measured.deciwatts == 12_346)
        #expect(measured.decivolts == 2300)
        #expect(measured.milliamperes == 5546)
        let alternating = try #require(measured.alternating)
        #expect(alternating.apparentDecivoltAmperes == 12_756)
        #expect(alternating.reactiveDecivars == -3210)
        #expect(alternating.powerFactorThousandths == 968)
        // A step of the period at 50 Hz is 11 mHz.
        #expect(abs(Int(alternating.millihertz ?? 0) - 49_980) <= 6)
    }

    @Test("Values below the no-load limit are zero") func noLoadIsExactlyNothing() throws {
        let test = TestADE()
        test.bus.withChip {
            $0.watts = 0.49
            $0.vars = 3
            $0.amperes = 0.029
        }
        let idle = try test.meter.measure()
        #expect(idle.deciwatts == 0 && idle.milliamperes == 0)
        #expect(idle.alternating?.reactiveDecivars == 0 && idle.alternating?.powerFactorThousandths == 0)
        test.bus.withChip { $0.watts = -0.49 }
        #expect(try test.meter.measure().deciwatts == 0)
        // A capacitor draws a current and reactive power, but no active power.
        test.bus.withChip {
            $0.amperes = 0.2
            $0.vars = -46
        }
        let capacitor = try test.meter.measure()
        #expect(capacitor.deciwatts == 0 && capacitor.milliamperes == 200)
        #expect(capacitor.alternating?.reactiveDecivars == -460)
        test.load(watts: 0.6)
        #expect(try test.meter.measure().deciwatts == 6)
    }

    @Test("The readings of a reversed board on channel B have the correct sign")
    func swappedAndReversedBoardsReadAsTheyShould() throws {
        let swapped = TestADE(board: .init(channel: .b, isReversed: true))
        swapped.load(watts: -500, vars: 20)
        swapped.bus.withChip { $0.addEnergy(steps: -1000) }
        swapped.clock.advance(1)
        let measured = try swapped.meter.quantities()
        #expect(abs(measured.activePower - 500) < 0.01)
        #expect(abs(measured.reactivePower! + 20) < 0.01)
        let energy: Double = 1000 * TestADE.microwattHoursPerStep / 1e6
        #expect(abs(measured.addedEnergy! - energy) < 1e-9)
    }

    @Test("Gains, offset and phase of the calibration are applied")
    func gainsOffsetAndPhaseAreThoseOfTheCalibration() throws {
        var calibration = Calibration()
        calibration.voltageGain = 1.02
        calibration.currentGain = 0.97
        calibration.powerGain = 0.99
        calibration.powerOffset = 0.25
        calibration.phaseDelay = -22.4
        let test = TestADE(calibration: calibration)
        test.load(watts: 1000)
        let measured = try test.meter.quantities()
        #expect(abs(measured.voltageRMS! - 234.6) < 1e-4)
        #expect(abs(measured.currentRMS! - 4.217391) < 1e-4)
        #expect(abs(measured.activePower - 990.25) < 0.01)
        #expect(test.bus.withChip { $0.read(0x108) } == 0x200 | 20)
        #expect(ADE7953Chip.phaseCode(microseconds: 1.117) == 1)
        #expect(ADE7953Chip.phaseCode(microseconds: -0.2) == 0)
        #expect(ADE7953Chip.phaseCode(microseconds: 1e9) == 0x1FF)
    }

    @Test("A wrong address is refused without a transfer") func anotherAddressThanItsOwnIsRefusedWithoutATransfer() {
        let bus = ModelledBus(ADE7953Model(), at: 0x38)
        let meter = ADE7953(bus: bus, address: 0x40) { .zero }
        #expect(fault(meter.measure)?.contains("possible: 0x38") == true)
        #expect(bus.transfers == 0)
    }
}
