import Metering
import Testing

@testable import PlugHardware

@Suite struct MeterLimitsTests {
    private let limits = MeterLimits(
        largestVoltage: 300, largestCurrent: 20, largestPower: 5000, noLoadPower: 1, noLoadCurrent: 0.05)

    private func judged(_ watts: Double, _ volts: Double?, _ amperes: Double?, vars: Double? = nil) -> MeterQuantities?
    {
        try? limits.judged(
            MeterQuantities(activePower: watts, voltageRMS: volts, currentRMS: amperes, reactivePower: vars))
    }

    @Test("Values that are not finite are impossible", arguments: [Double.nan, .infinity, -.infinity])
    func whatIsNotFiniteIsImpossible(value: Double) {
        #expect(judged(value, 230, 1) == nil)
        #expect(judged(100, value, 1) == nil)
        #expect(judged(100, 230, value) == nil)
        #expect(judged(100, 230, 1, vars: value) == nil)
        #expect(throws: MeterFault.self) { try limits.judged(energy: value, seconds: 1) }
    }

    @Test("Values beyond the range are impossible, values at its ends are not")
    func beyondTheRangeIsImpossibleAndAtItsEndsNot() {
        #expect(judged(5000, 300, 20) != nil && judged(-5000, 300, 20) != nil)
        #expect(judged(5000.1, 300, 20) == nil && judged(-5000.1, 300, 20) == nil)
        #expect(judged(1000, 300.1, 20) == nil && judged(1000, 300, 20.1) == nil)
        #expect(judged(5000, nil, nil) != nil)
    }

    @Test("The power may exceed volts times amperes by a tenth and five watts")
    func powerMayBeATenthAndFiveWattsAboveVoltsTimesAmperes() {
        #expect(judged(1104.9, 200, 5) != nil && judged(-1104.9, 200, 5) != nil)
        #expect(judged(1105.1, 200, 5) == nil && judged(-1105.1, 200, 5) == nil)
        #expect(judged(0, 200, 5, vars: 1105.1) == nil)
        #expect(
            (try? limits.forCalibration.judged(MeterQuantities(activePower: 2000, voltageRMS: 200, currentRMS: 5)))
                != nil)
    }

    @Test("Values below the no-load limit are zero with either sign") func belowNoLoadIsNothingOfEitherSign() {
        for watts in [0.99, -0.99, 0] { #expect(judged(watts, 230, 0.01)?.activePower == 0) }
        for watts in [1.0, -1.0] { #expect(judged(watts, 230, 0.01)?.activePower == watts) }
        #expect(judged(0.5, 230, 0.049)?.currentRMS == 0 && judged(0.5, 230, 0.05)?.currentRMS == 0.05)
        #expect(judged(1, 230, 0.01)?.currentRMS == 0.01)
        // For a calibration, small values are kept.
        #expect((try? limits.forCalibration.judged(MeterQuantities(activePower: 0.5)))?.activePower == 0.5)
    }

    @Test("Larger gains extend the range") func largerGainsWidenTheRange() {
        var calibration = Calibration()
        calibration.voltageGain = 1.1
        calibration.currentGain = 0.9
        calibration.powerGain = 1.05
        let scaled = limits.scaled(by: calibration)
        #expect(abs(scaled.largestVoltage - 330) < 1e-9 && abs(scaled.largestCurrent - 18) < 1e-9)
        #expect(abs(scaled.largestPower - 5250) < 1e-9 && scaled.noLoadPower == 1)
    }

    @Test("Quantities that cannot be stored are not a measurement") func quantitiesThatCannotBeKeptAreNoMeasurement() {
        #expect(MeterQuantities(activePower: 1e9).measurement == nil)
        #expect(MeterQuantities(activePower: 1, voltageRMS: 7000).measurement == nil)
        #expect(MeterQuantities(activePower: .nan).measurement == nil)
        #expect(
            MeterQuantities(activePower: 1, voltageRMS: 230, currentRMS: 1, reactivePower: 1e12).measurement == nil)
        #expect(MeterQuantities(activePower: 1, voltageRMS: 230, currentRMS: -1).measurement?.milliamperes == 1000)
    }

    @Test("The power factor is clamped to one") func thePowerFactorStaysWithinOne() {
        #expect(MeterQuantities(activePower: 240, voltageRMS: 230, currentRMS: 1).powerFactor == 1)
        #expect(MeterQuantities(activePower: -240, voltageRMS: 230, currentRMS: 1).powerFactor == -1)
        #expect(MeterQuantities(activePower: 0, voltageRMS: 230, currentRMS: 0).powerFactor == 0)
        #expect(MeterQuantities(activePower: 5).powerFactor == nil)
    }
}
