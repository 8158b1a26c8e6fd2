import Glibc
import PlugHardware
import TestSupport
import Testing

@testable import LinuxDevices

@Suite struct SysfsPWMTests {
    private let folder: TestFolder

    init() throws {
        folder = TestFolder()
        folder.make("pwmchip0")
        try folder.write("", "pwmchip0/export")
        try folder.write("2\n", "pwmchip0/npwm")
    }

    /// Creates the files of an exported channel as the kernel shows them.
    private func export(_ channel: Int, duty: String = "0", period: String = "0", enable: String = "0") throws {
        let name = "pwmchip0/pwm\(channel)"
        folder.make(name)
        try folder.write(period + "\n", name + "/period")
        try folder.write(duty + "\n", name + "/duty_cycle")
        try folder.write(enable + "\n", name + "/enable")
        try folder.write("normal\n", name + "/polarity")
    }

    private func channel(
        _ number: Int = 0, chip: Int = 0, inverted: Bool = false, pause: () -> Void = {}
    ) throws(HardwareFault) -> SysfsPWM {
        try SysfsPWM(
            chip: chip, channel: number, frequency: 1000, isInverted: inverted, base: folder.path, pause: pause)
    }

    /// Returns the first line of a file of channel 0. In the test folder, a shorter write leaves the rest of a longer
    /// previous text after that line.
    private func value(_ name: String) throws -> String {
        String(try folder.read("pwmchip0/pwm0/" + name).prefix { $0 != "\n" })
    }

    @Test("Nothing is written before the first value") func nothingIsSetBeforeTheFirstValue() throws {
        try export(0, duty: "7", period: "9", enable: "1")
        let channel = try channel()
        #expect(channel.period == 1_000_000)
        #expect(try value("duty_cycle") == "7")
        #expect(try value("period") == "9")
    }

    @Test("The first value sets the period and enables the channel") func theFirstValueSetsPeriodAndStartsIt() throws {
        try export(0)
        try channel().set(activeFor: 250_000)
        #expect(try value("period") == "1000000")
        #expect(try value("duty_cycle") == "250000")
        #expect(try value("enable") == "1")
        #expect(try value("polarity") == "normal")
    }

    @Test("A later value replaces the duty cycle") func laterValuesAreWrittenAtOnce() throws {
        try export(0)
        let channel = try channel()
        try channel.set(activeFor: 250_000)
        try channel.set(activeFor: 750_000)
        #expect(try value("duty_cycle") == "750000")
    }

    @Test("A channel that a previous process left running is not interrupted")
    func whatAnotherProcessLeftRunningIsNotInterrupted() throws {
        try export(0, duty: "300000", period: "1000000", enable: "1")
        // A write to any of these files would fail, except as root.
        for name in ["period", "enable", "polarity"] { chmod("\(folder.path)/pwmchip0/pwm0/\(name)", 0o444) }
        let before = try value("enable")
        try channel().set(activeFor: 400_000)
        #expect(try value("enable") == before)
        #expect(try value("duty_cycle") == "400000")
    }

    @Test("A running channel is disabled before its polarity changes")
    func anInvertedChannelIsStoppedBeforeItIsTurnedOver() throws {
        try export(0, duty: "0", period: "1000000", enable: "1")
        try channel(inverted: true).set(activeFor: 500_000)
        #expect(try folder.read("pwmchip0/pwm0/polarity").hasPrefix("inversed"))
        #expect(try value("enable") == "1")
    }

    @Test("A channel is exported, and its files are awaited") func aChannelIsExportedAndWaitedFor() throws {
        var looks = 0
        let folder = folder
        let channel = try channel {
            looks += 1
            if looks == 3 { #expect(throws: Never.self) { try export(0) } }
        }
        #expect(looks == 3)
        #expect(try folder.read("pwmchip0/export") == "0")
        withExtendedLifetime(channel) {}
    }

    @Test("A channel whose files do not appear is reported") func aChannelThatDoesNotComeIsToldInTheEnd() throws {
        var looks = 0
        let error = #expect(throws: HardwareFault.self) { try channel { looks += 1 } }
        #expect(looks == 200)
        #expect(
            try #require(error).description
                == "PWM channel 0 of pwmchip0: \(folder.path)/pwmchip0/pwm0/duty_cycle: no such file or directory: "
                + "has its driver been removed?")
    }

    @Test("A missing chip is reported") func aChipThatIsNotThereIsTold() throws {
        let error = #expect(throws: HardwareFault.self) { try channel(chip: 4) }
        #expect(try #require(error).description.contains("there is no \(folder.path)/pwmchip4"))
    }

    @Test("A channel beyond the chip is reported") func aChannelBeyondTheChipIsTold() throws {
        let error = #expect(throws: HardwareFault.self) { try channel(2) }
        #expect(
            try #require(error).description
                == "PWM channel 2 of pwmchip0: the chip has 2 channels, counted from 0")
    }
}
