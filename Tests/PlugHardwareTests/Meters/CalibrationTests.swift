import Metering
import PlugHardware
import ProtocolCore
import TestSupport
import Testing

@Suite struct CalibrationTests {
    @Test("A calibration is unchanged after conversion to the values of a file and back")
    func aFileOfAllFieldsIsTheSameCalibration() throws {
        var calibration = Calibration()
        calibration.voltageGain = 1.01
        calibration.currentGain = 0.98
        calibration.powerGain = 1.005
        calibration.powerOffset = -0.3
        calibration.phaseDelay = 12
        let values = Dictionary(uniqueKeysWithValues: calibration.values.map { ($0.name, $0.value) })
        #expect(values.count == 5 && values["power_offset_w"] == -0.3 && values["phase_delay_us"] == 12)
        #expect(try Calibration(values: values) == calibration)
        #expect(try Calibration(values: [:]) == Calibration())
    }

    @Test(
        "An implausible value is rejected",
        arguments: Calibration.fields.map(\.name), [Double.nan, .infinity, -.infinity, 1e9, -1e9])
    func anAbsurdValueIsRefused(name: String, value: Double) throws {
        let error = try #require(throws: CalibrationFault.self) { try Calibration(values: [name: value]) }
        #expect(error.reason.contains(name) && error.reason.contains("is possible"))
    }

    @Test("Gains are limited to a factor of two, and unknown names are rejected")
    func gainsLieWithinAFactorOfTwoAndUnknownNamesAreRefused() throws {
        for name in ["voltage_gain", "current_gain", "power_gain"] {
            for good in [0.5, 2.0] { _ = try Calibration(values: [name: good]) }
            for bad in [0.499, 2.001, 0, -1] {
                #expect(throws: CalibrationFault.self) { try Calibration(values: [name: bad]) }
            }
        }
        let error = try #require(throws: CalibrationFault.self) { try Calibration(values: ["voltage": 1]) }
        #expect(error.reason == "unknown key voltage in the calibration")
        #expect(Calibration.fields.allSatisfy { $0.range.contains(0) || $0.range.contains(1) })
    }

    /// Returns readings of a board with these errors and some noise.
    private func readings(
        watts: Double = 100, volts: Double = 230, by gains: (v: Double, i: Double, p: Double) = (1, 1, 1),
        vars: Double? = 0, factor: Double = 1, noise: Double = 0.002, count: Int = 20
    ) -> [MeterQuantities] {
        var random = SeededRandom(seed: 7)
        return (0..<count).map { _ in
            let wobble = 1 + Double.random(in: -noise...noise, using: &random)
            return MeterQuantities(
                activePower: watts * gains.p * wobble, voltageRMS: volts * gains.v,
                currentRMS: watts / factor / volts * gains.i * wobble, reactivePower: vars)
        }
    }

    private func reason(_ run: CalibrationRun, _ readings: [MeterQuantities]) throws -> String {
        try #require(throws: CalibrationFault.self) { try run.calibration(from: readings) }.reason
    }

    @Test("A known load determines all gains") func aKnownLoadGivesAllGains() throws {
        let run = CalibrationRun(knownPower: 100, knownVoltage: 230)
        let found = try run.calibration(from: readings(by: (0.98, 1.03, 1.01)))
        #expect(abs(found.voltageGain * 0.98 - 1) < 1e-9)
        #expect(abs(found.currentGain * 1.03 - 1) < 0.001)
        #expect(abs(found.powerGain * 1.01 - 1) < 0.001)
        // Without a voltmeter the voltage gain is unchanged.
        let half = try CalibrationRun(knownPower: 100).calibration(from: readings(by: (1, 1.03, 1.01)))
        #expect(half.voltageGain == 1 && abs(half.currentGain * 1.03 - 1) < 0.001)
    }

    @Test("A second run on a calibrated board changes nothing")
    func aSecondRunOnACalibratedBoardChangesNothing() throws {
        let first = try CalibrationRun(knownPower: 100, knownVoltage: 230).calibration(
            from: readings(by: (0.98, 1.03, 1.01)))
        let good = readings(by: (0.98 * first.voltageGain, 1.03 * first.currentGain, 1.01 * first.powerGain))
        let second = try CalibrationRun(knownPower: 100, knownVoltage: 230, used: first).calibration(from: good)
        for (before, after) in zip(first.values, second.values) { #expect(abs(before.value - after.value) < 1e-9) }
    }

    @Test("A board shows the known power after its calibration", arguments: [60, 1000, 3000])
    func aBoardReadsTheKnownPowerAfterItsCalibration(watts: Double) throws {
        let before = TestADE(limits: ADE7953.limits.forCalibration)
        // A board with a wrong divider and shunt: 4 % too much voltage, 7 % too little current.
        func load(_ test: TestADE) {
            test.bus.withChip {
                $0.volts = 240.24
                $0.amperes = watts * 0.93 / 231
                $0.watts = watts * 0.9672
            }
        }
        load(before)
        let readings = try (0..<10).map { _ in try before.meter.quantities() }
        let found = try CalibrationRun(
            knownPower: watts, knownVoltage: 231, supply: before.meter.supply, measuresPower: before.meter.measuresPower
        ).calibration(from: readings)
        let after = TestADE(calibration: found)
        load(after)
        let measured = try after.meter.quantities()
        #expect(abs(measured.activePower - watts) < 0.02)
        #expect(abs(measured.voltageRMS! - 231) < 0.001)
        let amperes: Double = watts / 231
        #expect(abs(measured.currentRMS! - amperes) < 0.0005)
    }

    @Test("A bench meter is calibrated by its current") func aBenchMeterIsCalibratedByItsCurrent() throws {
        let test = TestINA(.ina226)
        test.bus.withChip {
            $0.volts = 12
            $0.amperes = 0.53
        }
        let readings = try (0..<10).map { _ in try test.meter.quantities() }
        let found = try CalibrationRun(
            knownPower: 6, supply: test.meter.supply, measuresPower: test.meter.measuresPower
        ).calibration(from: readings)
        #expect(found.powerGain == 1 && abs(found.currentGain * 1.06 - 1) < 1e-3)
        let after = TestINA(.ina226, calibration: found)
        after.bus.withChip {
            $0.volts = 12
            $0.amperes = 0.53
        }
        #expect(abs(try after.meter.quantities().activePower - 6) < 0.002)
    }

    @Test("Implausible readings are rejected with the reason") func nonsenseIsRefusedWithItsReason() throws {
        let run = CalibrationRun(knownPower: 100)
        #expect(try reason(CalibrationRun(knownPower: 15), readings(watts: 15)).contains("at least 60.0 W"))
        #expect(try reason(CalibrationRun(knownPower: .nan), readings()).contains("too small"))
        #expect(try reason(CalibrationRun(knownPower: 100, knownVoltage: -230), readings()).contains("above zero"))
        #expect(try reason(CalibrationRun(knownPower: 0.1, supply: .lowVoltage), readings()).contains("0.5 W"))
        #expect(try reason(run, readings(count: 9)).contains("9 readings"))
        #expect(try reason(run, []).contains("0 readings"))
        #expect(try reason(run, readings(noise: 0.05)).contains("unsteady"))
        #expect(try reason(run, readings(factor: 0.7, noise: 0)).contains("power factor is 0.7"))
        #expect(try reason(run, readings(vars: -60)).contains("-60.0 var"))
        #expect(try reason(run, readings(watts: 0.2)).contains("plug the load in"))
        #expect(try reason(run, readings(watts: 0)).contains("plug the load in"))
        #expect(try reason(run, readings(by: (1, 1, -1))).contains("reversed = true"))
        #expect(try reason(run, readings(watts: 230)).contains("power_gain would be"))
        #expect(try reason(CalibrationRun(knownPower: 100, knownVoltage: 110), readings()).contains("voltage_gain"))
        var spoilt = readings()
        spoilt[3].activePower = .nan
        #expect(try reason(run, spoilt).contains("unsteady"))
    }
}
