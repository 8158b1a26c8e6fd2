import Metering
import ProtocolCore
import TestSupport
import Testing

@testable import PlugHardware

@Suite struct INATests {
    @Test("The constants match the data sheets") func theirConstantsAreThoseOfTheDataSheets() {
        #expect(INARegisters.addresses == 0x40...0x4F)
        #expect([INARegisters.configuration, INARegisters.busVoltage, INARegisters.calibration] == [0, 2, 5])
        #expect([INARegisters.manufacturer, INARegisters.die] == [0xFE, 0xFF])
        #expect([INARegisters.texasInstruments, INARegisters.dieMask] == [0x5449, 0xFFF0])
        #expect([INARegisters.ina226Die, INARegisters.ina260Die] == [0x2260, 0x2270])
        #expect([INA219Constants.current, INA226Constants.current, INA260Constants.current] == [4, 4, 1])
        #expect([INA219Constants.configurationDefault, INA219Constants.configuration] == [0x399F, 0x3F77])
        #expect([INA226Constants.configurationDefault, INA226Constants.configuration] == [0x4127, 0x4527])
        #expect([INA260Constants.configurationDefault, INA260Constants.configuration] == [0x6127, 0x6527])
        #expect([INA219Constants.shuntStep, INA219Constants.busStep] == [10e-6, 4e-3])
        #expect([INA226Constants.shuntStep, INA226Constants.busStep] == [2.5e-6, 1.25e-3])
        #expect([INA260Constants.currentStep, INA260Constants.busStep] == [1.25e-3, 1.25e-3])
        #expect(INA219Constants.largestShunt == 32_000 && INA219Constants.overflow == 1)
        #expect([INA226Constants.fullScale, INA260Constants.fullScale] == [32_767, 32_767])
    }

    @Test("The calibration register follows its formula", arguments: [0.002, 0.01, 0.1, 1])
    func theCalibrationRegisterFollowsItsFormula(shunt: Double) {
        // A step of the current is a step of the shunt's voltage divided by the shunt.
        let step219: Double = 10e-6 / shunt
        let step226: Double = 2.5e-6 / shunt
        #expect((0.04096 / (step219 * shunt)).rounded() == 4096 && INA219Constants.calibration == 4096)
        #expect((0.00512 / (step226 * shunt)).rounded() == 2048 && INA226Constants.calibration == 2048)
        let model219 = TestINA(.ina219, shunt: shunt).bus.withChip { $0.currentStep }
        let model226 = TestINA(.ina226, shunt: shunt).bus.withChip { $0.currentStep }
        #expect(abs(model219 - step219) < 1e-12 && abs(model226 - step226) < 1e-12)
    }

    @Test(
        "The chips are set up and take three transfers per measurement",
        arguments: zip(INAModel.Kind.allCases, [8, 8, 5]))
    func theyAreSetUpAndTakeThreeTransfersAMeasurement(kind: INAModel.Kind, count: Int) throws {
        let test = TestINA(kind, fresh: true)
        #expect(fault(test.meter.measure)?.contains("the next reading is valid") == true)
        #expect(test.bus.transfers == count)
        let configuration: UInt32 = [.ina219: 0x3F77, .ina226: 0x4527, .ina260: 0x6527][kind]!
        var writes = [RegisterWrite(register: 0, value: configuration)]
        if kind != .ina260 { writes.append(RegisterWrite(register: 5, value: kind == .ina219 ? 4096 : 2048)) }
        #expect(test.bus.writes == writes)
        _ = try test.meter.measure()
        #expect(test.bus.transfers == count + 3)
        #expect(test.meter.counters.initialisations == 1)
    }

    @Test(
        "The current is the value of its register times the step, and values out of range are errors",
        arguments: INAModel.Kind.allCases)
    func everyCodeOfTheCurrentIsItsValueTimesTheStep(kind: INAModel.Kind) throws {
        let test = TestINA(kind)
        test.bus.withChip { $0.volts = 12 }
        let step = test.bus.withChip { $0.currentStep }
        let largest = kind == .ina219 ? 31_999 : 32_766
        var impossible = 0
        for code in -32_768...32_767 {
            test.bus.withChip { $0.stuck[kind == .ina260 ? 1 : 4] = UInt32(UInt16(bitPattern: Int16(code))) }
            guard abs(code) <= largest else {
                impossible += 1
                #expect(throws: HardwareFault.self) { try test.meter.quantities() }
                continue
            }
            let measured = try test.meter.quantities()
            let amperes: Double = Double(code) * step
            guard abs(measured.currentRMS! - amperes) < step * 1e-6,
                abs(measured.activePower - amperes * 12) < step * 1e-4
            else { Issue.record("code \(code) is \(measured)"); return }
        }
        #expect(test.meter.counters.impossible == UInt64(impossible))
        #expect(impossible == 65_536 - (2 * largest + 1))
    }

    @Test(
        "The voltage is the value of its register times the step, and values out of range are errors",
        arguments: INAModel.Kind.allCases)
    func everyCodeOfTheVoltageIsItsValueTimesTheStep(kind: INAModel.Kind) throws {
        let test = TestINA(kind)
        for code in 0...0xFFFF {
            test.bus.withChip { $0.stuck[2] = UInt32(code) }
            let volts = kind == .ina219 ? Double(code >> 3) * 0.004 : Double(code) * 0.00125
            // The registers of the INA219 cover 32 V, and bit 0 shows an overflow of the current.
            let isGood = kind == .ina219 ? code >> 3 <= 8000 && code & 1 == 0 : code < 0x7FFF
            guard isGood else {
                guard fault(test.meter.quantities) != nil else { Issue.record("code \(code)"); return }
                continue
            }
            let measured = try test.meter.quantities()
            guard abs(measured.voltageRMS! - volts) < 1e-9 else { Issue.record("code \(code) is \(measured)"); return }
        }
    }

    @Test("Quantities are accurate to less than one step", arguments: INAModel.Kind.allCases, [0.002, 0.01, 0.1])
    func whatFlowsIsMeasuredToLessThanAStep(kind: INAModel.Kind, shunt: Double) throws {
        for reversed in [false, true] {
            let test = TestINA(kind, shunt: shunt, reversed: reversed)
            let (current, power) = test.bus.withChip { ($0.currentStep, $0.powerStep) }
            let bus = kind == .ina219 ? 0.004 : 0.00125
            let full = kind == .ina260 ? 40.9 : (kind == .ina219 ? 0.3199 : 0.0818) / shunt
            var random = SeededRandom(seed: 0x1A4)
            for _ in 0..<3000 {
                let amperes = Double.random(in: -full...full, using: &random)
                let volts = Double.random(in: 0...(kind == .ina219 ? 32 : 40.9), using: &random)
                test.bus.withChip {
                    $0.amperes = amperes
                    $0.volts = volts
                }
                let measured = try test.meter.quantities()
                let sign = reversed ? -1.0 : 1
                let signed: Double = sign * amperes
                #expect(abs(measured.currentRMS! - signed) < current)
                #expect(abs(measured.voltageRMS! - volts) < bus)
                // The chip's own power register agrees to one step; it has no sign.
                let register = Double(test.bus.withChip { $0.read(3) }) * power
                guard abs(abs(measured.activePower) - register) <= power * 1.001 || register >= 65_535 * power else {
                    Issue.record("measured \(measured.activePower) W; the chip's register has \(register) W")
                    return
                }
                let isPositive = measured.activePower > 0
                #expect(measured.activePower == 0 || isPositive == (signed > 0))
            }
        }
    }

    @Test("A direct current has no reactive power") func aDirectCurrentHasNoReactivePower() throws {
        let test = TestINA(.ina226)
        test.bus.withChip {
            $0.volts = 12
            $0.amperes = -0.5
        }
        let measured = try test.meter.measure()
        #expect(measured == Measurement(deciwatts: -60, decivolts: 120, milliamperes: 500))
    }

    @Test("Gains apply to the computed power") func gainsApplyToThePowerThatIsComputed() throws {
        var calibration = Calibration()
        calibration.voltageGain = 1.1
        calibration.currentGain = 0.8
        calibration.powerOffset = 0.5
        // The power gain is not applied, because the driver computes the power from voltage and current.
        calibration.powerGain = 1.5
        let test = TestINA(.ina219, calibration: calibration)
        test.bus.withChip {
            $0.volts = 10
            $0.amperes = 1
        }
        let measured = try test.meter.quantities()
        #expect(abs(measured.activePower - 9.3) < 1e-9)
        #expect(!test.meter.measuresPower)
    }

    @Test("A wrong chip is reported with its name", arguments: INAModel.Kind.allCases, INAModel.Kind.allCases)
    func anotherChipThanTheOneExpectedIsNamed(expected: INAModel.Kind, found: INAModel.Kind) throws {
        guard expected != found else { return }
        let bus = ModelledBus(INAModel(found), at: 0x40)
        let text = try #require(fault(TestINA.meter(expected, bus).measure))
        #expect(text.contains("\(expected)".uppercased()))
        if found == .ina219 {
            #expect(text.contains("0x5449") && text.contains("0x0 0x0") && text.contains("no identification"))
        } else {
            #expect(text.contains("set kind = \"\(found)\""))
        }
        #expect(bus.writes.isEmpty)
    }

    @Test("A chip with a different die revision is accepted") func aRevisionOfTheDieIsTheSameChip() throws {
        let test = TestINA(.ina226, fresh: true)
        test.bus.withChip { $0.stuck[0xFF] = 0x2263 }
        _ = fault(test.meter.measure)
        _ = try test.meter.measure()
    }

    @Test("An INA219, which has no identification register, is rejected if it does not store settings")
    func aChipWithoutIdentificationThatKeepsNoSettingsIsNone() {
        let test = TestINA(.ina219, fresh: true)
        test.bus.withChip { $0.stuck[0] = 0x1234 }
        #expect(fault(test.meter.measure)?.contains("has 0x1234 after 0x3f77 was written") == true)
    }

    @Test("An address that no chip can have is refused without a transfer", arguments: [0x38, 0x3F, 0x50])
    func anAddressThatNoneCanHaveIsRefusedWithoutATransfer(address: Int) {
        let bus = ModelledBus(INAModel(.ina226), at: 0x40)
        let meter = INA226(bus: bus, address: UInt8(address), shuntOhms: 0.1)
        #expect(fault(meter.measure)?.contains("possible: 0x40 to 0x4f") == true)
        #expect(bus.transfers == 0)
    }
}
