import LinuxSystem
import Metering
import PlugHardware
import Synchronization
import TestSupport
import Testing

@testable import PlugService

/// Tests of the calibration file, and of a meter that is calibrated while the plug runs.
struct CalibrationTests {
    private let directory = TestFolder()
    private var file: CalibrationFile { CalibrationFile(directory.path + "/calibration.toml") }

    @Test("A written calibration is read back") func whatIsWrittenIsRead() throws {
        try directory.write("", to: "lock")
        let calibration = try Calibration(values: ["power_gain": 1.0625, "phase_delay_us": -12.5])
        try file.write(calibration)
        #expect(file.read() == CalibrationFile.Found(calibration: calibration))
    }

    @Test("A missing calibration file is not an error")
    func aBoardThatWasNeverCalibratedIsNoFault() { #expect(file.read() == CalibrationFile.Found()) }

    @Test(
        "A damaged calibration file is ignored with a warning",
        arguments: [
            ("", "is empty"), ("power_gain = ", "calibration.toml:1:"),
            ("power_gain = 1.0\npower", "calibration.toml:2:"),
            ("power_gain = 7", "power_gain is 7.0"), ("power_gian = 1", "unknown key power_gian"),
            ("power_gain = nan", "power_gain is nan"), ("power_gain = \"1\"", "number"),
        ])
    func aDamagedOneIsToldLoudlyAndNotUsed(text: String, reason: String) throws {
        try directory.write(text, to: "calibration.toml")
        let found = file.read()
        #expect(found.calibration == Calibration())
        #expect(found.warning?.contains(reason) == true, "\(found.warning ?? "no warning")")
        #expect(found.warning?.contains("\nhint: calibrate again with `plugd calibrate`") == true)
    }

    /// A meter with a lamp of 100 W. It shows 80 W times its gain.
    private struct LampMeter: CalibratedMeter {
        var gain: Double
        var supply: CalibrationRun.Supply { .mains }
        var measuresPower: Bool { true }
        var counters: MeterCounters {
            var counters = MeterCounters()
            counters.initialisations = 1
            return counters
        }

        func quantities() throws(HardwareFault) -> MeterQuantities {
            MeterQuantities(activePower: 80 * gain, voltageRMS: 230, currentRMS: 80 / 230)
        }

        func measure() throws(HardwareFault) -> Measurement {
            Measurement(deciwatts: Int32((try quantities().activePower * 10).rounded()))
        }
    }

    private let meter = BoardMeter(Calibration()) { calibration, _ in LampMeter(gain: calibration.powerGain) }

    private func calibrate(_ load: KnownLoad) async throws -> Calibration {
        try await load.calibration(of: meter) {
            $0()
        } pause: {
        }
    }

    @Test("A calibrated meter shows the power of the known load")
    func theMeterSaysWhatTheLoadTakesOnceItIsCalibrated() async throws {
        #expect(try meter.measure().deciwatts == 800)
        let found = try await calibrate(KnownLoad(power: 100))
        #expect(found.powerGain == 1.25)
        meter.use(found)
        #expect(try meter.measure().deciwatts == 1000)
        #expect(meter.counters.initialisations == 2, "the counters continue after the calibration")
    }

    @Test("A load that would give an unusable calibration is refused and changes nothing")
    func nonsenseIsRefusedAndChangesNothing() async throws {
        await #expect(throws: CalibrationFault.self) { try await calibrate(KnownLoad(power: 15)) }
        await #expect(throws: CalibrationFault.self) { try await calibrate(KnownLoad(power: 2000)) }
        #expect(try meter.measure().deciwatts == 800)
    }

    @Test("A meter that does not answer is reported") func aMeterThatDoesNotAnswerIsSaid() async throws {
        let missing = BoardMeter(Calibration()) { (_, _) throws(HardwareFault) in
            throw HardwareFault(part: "meter", reason: "the chip does not answer")
        }
        #expect(throws: HardwareFault.self) { try missing.measure() }
        await #expect(throws: HardwareFault.self) {
            try await KnownLoad(power: 100).calibration(of: missing) {
                $0()
            } pause: {
            }
        }
    }
}
