import Metering
import PlugHardware
import ProtocolCore
import Synchronization
import Testing

/// A folder of attribute files whose content the test sets.
private final class Attributes: Sendable {
    private let texts: Mutex<[String: String]>
    private let reads = Mutex(0)

    init(_ texts: [String: String]) { self.texts = Mutex(texts) }

    subscript(name: String) -> String? {
        get { texts.withLock { $0[name] } }
        set { texts.withLock { $0[name] = newValue } }
    }

    var readCount: Int { reads.withLock { $0 } }

    func open(_ name: String) -> (any AttributeFile)? { self[name].map { _ in File(folder: self, name: name) } }

    private struct File: AttributeFile {
        let folder: Attributes
        let name: String

        func read() throws(HardwareFault) -> String {
            folder.reads.withLock { $0 += 1 }
            guard let text = folder[name] else { throw HardwareFault(part: name, reason: "it is gone") }
            return text
        }
    }
}

@Suite struct KernelMeterTests {
    private let hwmon = Attributes([
        "power1_input": "12345678", "in0_input": "99", "in1_input": "12040", "curr1_input": "1025",
    ])

    @Test("hwmon values are in microwatts, millivolts and milliamperes")
    func hwmonCountsInMicrowattsMillivoltsAndMilliamperes() throws {
        let meter = try KernelMeter(hwmon: hwmon.open)
        let measured = try meter.quantities()
        #expect(abs(measured.activePower - 12.345678) < 1e-9)
        #expect(abs(measured.voltageRMS! - 12.04) < 1e-9)
        #expect(abs(measured.currentRMS! - 1.025) < 1e-9)
        #expect(hwmon.readCount == 3 && meter.measuresPower)
        #expect(try meter.measure() == Measurement(deciwatts: 123, decivolts: 120, milliamperes: 1025))
    }

    @Test("A negative current inverts the sign of the power") func aNegativeCurrentTurnsThePowersSign() throws {
        hwmon["curr1_input"] = "-1025"
        #expect(try KernelMeter(hwmon: hwmon.open).measure().deciwatts == -123)
        #expect(try KernelMeter(hwmon: hwmon.open, isReversed: true).measure().deciwatts == 123)
    }

    @Test("Without a power file, the power is voltage times current")
    func withoutAPowerItIsVoltageTimesCurrent() throws {
        hwmon["power1_input"] = nil
        let meter = try KernelMeter(hwmon: hwmon.open)
        #expect(abs(try meter.quantities().activePower - 12.341) < 1e-9)
        #expect(!meter.measuresPower)
        hwmon["curr1_input"] = nil
        let error = try #require(throws: HardwareFault.self) { try KernelMeter(hwmon: hwmon.open) }
        #expect(error.reason.contains("neither power nor both"))
    }

    @Test("The energy is the increase of the kernel's counter") func theEnergyIsWhatTheKernelsCounterRose() throws {
        hwmon["energy1_input"] = "18000000000"
        let meter = try KernelMeter(hwmon: hwmon.open)
        #expect(try meter.measure().addedMicrowattHours == nil)
        hwmon["energy1_input"] = "18003600000"
        #expect(try meter.measure().addedMicrowattHours == 1000)
        // The driver was loaded again, and its counter started from zero.
        hwmon["energy1_input"] = "5"
        #expect(try meter.measure().addedMicrowattHours == nil)
    }

    @Test("iio values are raw plus offset, times scale") func iioIsRawPlusOffsetTimesScale() throws {
        let iio = Attributes([
            "in_power2_raw": "250", "in_power2_scale": "2.000000000", "in_voltage1_raw": "3010",
            "in_voltage_scale": "4",
            "in_current3_raw": "52", "in_current3_offset": "-2", "in_current3_scale": "0.833333333",
        ])
        let meter = try KernelMeter(iio: iio.open)
        let measured = try meter.quantities()
        #expect(abs(measured.activePower - 0.5) < 1e-9)
        #expect(abs(measured.voltageRMS! - 12.04) < 1e-9)
        #expect(abs(measured.currentRMS! - 0.0416666667) < 1e-9)
        iio["in_current3_scale"] = "1"
        #expect(abs(try meter.quantities().currentRMS! - 0.05) < 1e-9)
        let named = try KernelMeter(
            iio: iio.open, power: ["in_power7"], voltage: ["in_voltage1"], current: ["in_current3"])
        #expect(!named.measuresPower)
        let input = Attributes(["in_power0_input": "1500", "in_power0_raw": "1"])
        #expect(try KernelMeter(iio: input.open).measure() == Measurement(deciwatts: 15))
        let plain = Attributes(["in_power0_raw": "1500"])
        #expect(try KernelMeter(iio: plain.open).measure() == Measurement(deciwatts: 15))
    }

    @Test(
        "A text that is not a number, or a number that is too large, is rejected and counted",
        arguments: [
            "", "x", "nan", "inf", "-", "1e999", "12 mW", "9999999999999999999999999999999999", "60000000000",
        ])
    func whatIsNoNumberOrTooMuchIsThrownAndCounted(text: String) throws {
        let meter = try KernelMeter(hwmon: hwmon.open)
        hwmon["power1_input"] = text
        #expect(fault(meter.measure)?.contains("not a measurement") == true)
        #expect(meter.counters.impossible == 1)
        hwmon["power1_input"] = "12345678"
        #expect(try meter.measure().deciwatts == 123)
    }

    @Test("A missing file is reported with its own message") func aFileThatIsGoneIsToldInItsWords() throws {
        let meter = try KernelMeter(hwmon: hwmon.open)
        hwmon["in1_input"] = nil
        #expect(fault(meter.measure) == "in1_input: it is gone")
        #expect(meter.counters.busFaults == 1)
        hwmon["in1_input"] = "12040"
        _ = try meter.measure()
    }

    @Test("More power than the current allows is impossible") func moreThanTheCurrentAllowsIsImpossible() throws {
        hwmon["curr1_input"] = "10"
        #expect(fault(try KernelMeter(hwmon: hwmon.open).measure)?.contains("VA; check") == true)
    }

    @Test("A thermometer rounds thousandths of a degree to tenths")
    func aThermometerRoundsThousandthsToTenths() throws {
        let files = Attributes(["temp1_input": "45249"])
        let thermometer = KernelThermometer(file: try #require(files.open("temp1_input")))
        #expect(try thermometer.temperature() == 452)
        for (text, tenths) in [("45250", 453), ("-10040", -100), ("0", 0), ("200000", 2000), ("-55000", -550)]
            as [(String, Int16)]
        {
            files["temp1_input"] = text
            #expect(try thermometer.temperature() == tenths)
        }
        for text in ["200001", "-55001", "-274000", "nan", "", "85 C"] {
            files["temp1_input"] = text
            #expect(fault(thermometer.temperature)?.contains("not a temperature") == true)
        }
        files["temp1_input"] = nil
        #expect(fault(thermometer.temperature) == "temp1_input: it is gone")
    }
}
