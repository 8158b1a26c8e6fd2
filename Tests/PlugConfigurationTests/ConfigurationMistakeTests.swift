import Testing

@testable import PlugConfiguration

/// What is wrong with a file is said with its place, all of it at once.
struct ConfigurationMistakeTests {
    private func complaint(_ text: String) -> String? {
        do {
            _ = try PlugConfiguration(text, file: "plugd.toml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test func everythingIsToldAtOnceInTheOrderOfItsLines() {
        #expect(
            complaint(
                """
                colour = "red"
                [relay]
                lin = "GPIO17"
                active_low = "yes"
                [buton]
                line = "GPIO27"
                [meter] # of the bench
                kind = "ina219"
                address = 0x38
                interval_s = 0.01
                [power]
                power_on = "always"
                auto_off_s = nan
                """) == """
                    plugd.toml:1: colour: it stands before the first table; put it under its [table]
                    plugd.toml:2: [relay] line: missing: which line it is: its name, or chip and offset
                    plugd.toml:3: [relay] lin: there is no such key; is line meant?
                    plugd.toml:4: [relay] active_low: it takes true or false, not the text "yes"
                    plugd.toml:5: [buton]: there is no such table; is [button] meant?
                    plugd.toml:7: [meter] shunt_ohms: missing: the resistor on the board; R100 is 0.1
                    plugd.toml:9: [meter] address: 0x38 is out of range; it takes 0x40 to 0x4f
                    plugd.toml:10: [meter] interval_s: 0.01 is out of range; it takes 0.1 to 60 s
                    plugd.toml:12: [power] power_on: it is "off" or "on" or "last" or "locked-on", not "always"
                    plugd.toml:13: [power] auto_off_s: nan is out of range; it takes 0.1 to 86400 s, or 0 for off
                    """)
    }

    @Test func whatIsNoTOMLIsSaidWithItsColumn() {
        let text = complaint("[relay]\nline = \"GPIO17\nactive_low = true")
        #expect(text?.hasPrefix("plugd.toml:2:") == true, "\(text ?? "")")
        #expect(complaint("[relay]\n[relay]")?.hasPrefix("plugd.toml:2:") == true)
        #expect(complaint("a\u{0}b")?.hasPrefix("plugd.toml:1:2:") == true)
    }

    @Test(arguments: [
        ("[light]\nline = \"A\"\n[relay]\nline = \"A\"", "2: [light] line: the same line is used by [relay] line"),
        (
            "[relay]\nkind = \"latching\"\nchip = \"gpiochip0\"\non_offset = 4\noff_offset = 4",
            "5: [relay] off_offset: the same line is used by [relay] on_offset"
        ),
        (
            "[relay]\nchip = \"gpiochip0\"\noffset = 4\n[button]\nchip = \"/dev/gpiochip0\"\noffset = 4",
            "6: [button] offset: the same line is used by [relay] offset"
        ),
        ("[relay]\noffset = 4", "1: [relay] chip: missing: the device of the chip that offset counts in"),
        (
            "[relay]\nline = \"A\"\nchip = \"gpiochip0\"\noffset = 4",
            "4: [relay] offset: line says already which line it is: leave one of them out"
        ),
        ("[relay]\nline = \"A\"\npulse_ms = 3", "3: [relay] pulse_ms: only a relay of kind = \"latching\" has it"),
        (
            "[relay]\nkind = \"latching\"\nline = \"A\"\non_line = \"B\"\noff_line = \"C\"",
            "3: [relay] line: a latching relay has two: on_line and off_line"
        ),
        (
            "[meter]\nbus = \"/dev/i2c-1\"",
            "1: [meter] kind: missing: which meter it is: ade7953, ina219, ina226, ina260, hwmon or iio"
        ),
        ("[meter]\nkind = \"hwmon\"", "1: [meter] name: missing: the driver's name, or path with its directory"),
        (
            "[meter]\nkind = \"iio\"\nname = \"a\"\nbus = \"/dev/i2c-1\"",
            "4: [meter] bus: the kernel talks to the chip of a meter of kind = \"iio\""
        ),
        (
            "[meter]\nkind = \"ina260\"\nshunt_ohms = 1",
            "3: [meter] shunt_ohms: a meter of kind = \"ina260\" has none to be told"
        ),
        ("[thermometer]\npath = \"temp\"", "2: [thermometer] path: it takes a path that begins with /, not \"temp\""),
        (
            "[thermometer]",
            "1: [thermometer] path: missing: the kernel's file, such as /sys/class/thermal/thermal_zone0/temp"
        ),
        ("[dimmer]\npwm_chip = 0", "1: [dimmer] pwm_channel: missing: which channel of the chip it is"),
        ("[dimmer]\npwm_chip = 0\npwm_channel = [1]", "3: [dimmer] pwm_channel: it takes a whole number, not an array"),
        ("[dimmer]\npwm_chip = 0.5\npwm_channel = 0", "2: [dimmer] pwm_chip: it takes a whole number, not 0.5"),
        ("[plug]\nname = \"\"", "2: [plug] name: a text of 0 bytes is out of range; it takes 1 to 63 bytes"),
        ("[plug]\nname = 7", "2: [plug] name: it takes the plug's name, in quotation marks, not 7"),
        ("plug.nam = \"x\"", "1: [plug] nam: there is no such key; is name meant?"),
        ("[network]\nport = 99999999999", "2: [network] port: 99999999999 is out of range; it takes 1 to 65535"),
        ("[zzzzzzzz]", "1: [zzzzzzzz]: there is no such table"),
        ("[plug]\nname = \"\"\"\n[relay]\n\"\"\"\n[relais]", "5: [relais]: there is no such table; is [relay] meant?"),
    ])
    func oneMistakeIsOneMessage(text: String, message: String) {
        #expect(complaint(text) == "plugd.toml:\(message)")
    }

    @Test func mistakesAreData() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try PlugConfiguration("[button]\nline = \"A\"\ndebounce_ms = 900", file: "f")
        }
        let mistake = try #require(error?.mistakes.first)
        #expect(mistake.table == "button" && mistake.key == "debounce_ms" && mistake.line == 3)
        #expect(mistake.problem == .outOfRange(found: "900", allowed: "0 to 200 ms"))
    }
}
