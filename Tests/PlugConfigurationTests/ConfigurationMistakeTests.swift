import ConfigurationFiles
import Testing

@testable import PlugConfiguration

/// Tests that all errors of a file are reported at once with their places.
struct ConfigurationMistakeTests {
    private func complaint(_ text: String) -> String? {
        do {
            _ = try PlugConfiguration(text, file: "plugd.toml")
            return nil
        } catch {
            return error.description
        }
    }

    @Test("All errors are reported at once in the order of their lines")
    func everythingIsToldAtOnceInTheOrderOfItsLines() {
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
                    plugd.toml:1: colour: this key is before the first table; put it under its [table]
                    plugd.toml:2: [relay] line: missing: the line: its name, or chip and offset
                    plugd.toml:3: [relay] lin: unknown key; did you mean line?
                    plugd.toml:4: [relay] active_low: expected true or false, not the string "yes"
                    plugd.toml:5: [buton]: unknown table; did you mean [button]?
                    plugd.toml:7: [meter] shunt_ohms: missing: the resistor on the board; R100 is 0.1
                    plugd.toml:9: [meter] address: 0x38 is out of range; allowed: 0x40 to 0x4f
                    plugd.toml:10: [meter] interval_s: 0.01 is out of range; allowed: 0.1 to 60 s
                    plugd.toml:12: [power] power_on: expected "off", "on", "last" or "locked-on", not "always"
                    plugd.toml:13: [power] auto_off_s: nan is out of range; allowed: 0.1 to 86400 s, or 0 for off
                    """)
    }

    @Test("Invalid TOML is reported with its line and column") func whatIsNoTOMLIsSaidWithItsColumn() {
        let text = complaint("[relay]\nline = \"GPIO17\nactive_low = true")
        #expect(text?.hasPrefix("plugd.toml:2:") == true, "\(text ?? "")")
        #expect(complaint("[relay]\n[relay]")?.hasPrefix("plugd.toml:2:") == true)
        #expect(complaint("a\u{0}b")?.hasPrefix("plugd.toml:1:2:") == true)
    }

    @Test(
        "One error results in one message",
        arguments: [
            (
                "[light]\nline = \"A\"\n[relay]\nline = \"A\"",
                "2: [light] line: [relay] line uses the same line; each needs its own"
            ),
            (
                "[relay]\nkind = \"latching\"\nchip = \"gpiochip0\"\non_offset = 4\noff_offset = 4",
                "5: [relay] off_offset: [relay] on_offset uses the same line; each needs its own"
            ),
            (
                "[relay]\nchip = \"gpiochip0\"\noffset = 4\n[button]\nchip = \"/dev/gpiochip0\"\noffset = 4",
                "6: [button] offset: [relay] offset uses the same line; each needs its own"
            ),
            ("[relay]\noffset = 4", "1: [relay] chip: missing: the device of the GPIO chip to which offset refers"),
            (
                "[relay]\nline = \"A\"\nchip = \"gpiochip0\"\noffset = 4",
                "4: [relay] offset: line already selects the line: remove one of the two keys"
            ),
            (
                "[relay]\nline = \"A\"\npulse_ms = 3",
                "3: [relay] pulse_ms: only a relay of kind = \"latching\" has this key"
            ),
            (
                "[relay]\nkind = \"latching\"\nline = \"A\"\non_line = \"B\"\noff_line = \"C\"",
                "3: [relay] line: a latching relay has two keys: on_line and off_line"
            ),
            (
                "[meter]\nbus = \"/dev/i2c-1\"",
                "1: [meter] kind: missing: the kind of the meter: ade7953, ina219, ina226, ina260, hwmon or iio"
            ),
            ("[meter]\nkind = \"hwmon\"", "1: [meter] name: missing: the driver's name, or path with its directory"),
            (
                "[meter]\nkind = \"iio\"\nname = \"a\"\nbus = \"/dev/i2c-1\"",
                "4: [meter] bus: the kernel drives the chip of a meter of kind = \"iio\""
            ),
            (
                "[meter]\nkind = \"ina260\"\nshunt_ohms = 1",
                "3: [meter] shunt_ohms: a meter of kind = \"ina260\" has no shunt setting"
            ),
            (
                "[thermometer]\npath = \"temp\"",
                "2: [thermometer] path: expected a path that begins with /, not \"temp\""
            ),
            (
                "[thermometer]",
                "1: [thermometer] path: missing: the kernel's file, such as /sys/class/thermal/thermal_zone0/temp"
            ),
            ("[dimmer]\npwm_chip = 0", "1: [dimmer] pwm_channel: missing: the channel of the chip"),
            (
                "[dimmer]\npwm_chip = 0\npwm_channel = [1]",
                "3: [dimmer] pwm_channel: expected an integer, not an array"
            ),
            ("[dimmer]\npwm_chip = 0.5\npwm_channel = 0", "2: [dimmer] pwm_chip: expected an integer, not 0.5"),
            ("[plug]\nname = \"\"", "2: [plug] name: a string of 0 bytes is out of range; allowed: 1 to 63 bytes"),
            ("[plug]\nname = 7", "2: [plug] name: expected the plug's name, in quotation marks, not 7"),
            ("plug.nam = \"x\"", "1: [plug] nam: unknown key; did you mean name?"),
            ("[network]\nport = 99999999999", "2: [network] port: 99999999999 is out of range; allowed: 1 to 65535"),
            (
                "[zzzzzzzz]",
                "1: [zzzzzzzz]: unknown table; the tables are [button], [dimmer], [home_assistant], [homekit], [light], [matter], [meter], [mqtt], "
                    + "[network], [pairing], [plug], [power], [protection], [relay], [sleep_proxy], [thermometer], [wide_area] and [wifi]"
            ),
            ("[plug]\nzzzzz = 1", "2: [plug] zzzzz: unknown key; the keys of this table are name"),
            (
                "[relay]\nline = \"A\"\ndebounce_ms = 5",
                "3: [relay] debounce_ms: this is a key of [button]; check whether the line of that table still begins with #"
            ),
            ("[plug]\nname = \"K\u{FC}che\"\nnam = 1", "3: [plug] nam: unknown key; did you mean name?"),
            (
                "[pairing]\nnetworks = [\"10.0.0.0/8\", \"10.1.2.3/24\"]",
                "2: [pairing] networks: \"10.1.2.3/24\" is not a network; write its first address and the number of its bits, "
                    + "such as 192.0.2.0/24"
            ),
            ("[wifi]\ncountry = \"D1\"", "2: [wifi] country: a country has two letters, such as \"DE\""),
            (
                "[wifi]\ninterface = \"wireless-interface\"",
                "2: [wifi] interface: a string of 18 bytes is out of range; allowed: 1 to 15 bytes"
            ),
            ("[matter]\nport = 0", "2: [matter] port: 0 is out of range; allowed: 1 to 65535"),
            ("[matter]\nenabled = \"yes\"", "2: [matter] enabled: expected true or false, not the string \"yes\""),
            (
                "[matter]\ncredentials = \"~/matter\"",
                "2: [matter] credentials: a plug has no home directory; write the full path"
            ),
            ("[pairing]\nnetworks = []", "2: [pairing] networks: a list of 0 is out of range; allowed: 1 to 16"),
            (
                "[light]\nline = \"A\"\noff = \"22:00\"",
                "3: [light] off: \"22:00\" is not a time of day; write its begin and end, such as 22:00-07:00, or never"
            ),
            (
                "[wide_area]\ndomain = \"local\"\nserver = \"192.0.2.1\"\nkey_file = \"k\"",
                "2: [wide_area] domain: \"local\" is not a domain of a name server"
            ),
            (
                "[wide_area]\ndomain = \"example.org\"\nserver = \"fe80::1\"\nkey_file = \"k\"",
                "3: [wide_area] server: \"fe80::1\" is not an IP address that is valid beyond one link"
            ),
            (
                "[wide_area]\ndomain = \"example.org\"\nserver = \"192.0.2.1\"",
                "1: [wide_area] key_file: missing: the file with the key"
            ),
            (
                "[wide_area]\ndomain = \"example.org\"\nserver = \"192.0.2.1\"\nkey_file = \"~/k\"",
                "4: [wide_area] key_file: a plug has no home directory; write the full path"
            ),
            (
                "[wide_area]\ndomain = \"example.org\"\nserver = \"192.0.2.1\"\nmethod = \"srp\"\nkey_file = \"k\"",
                "5: [wide_area] key_file: with method = \"srp\" the program makes its own key"
            ),
            (
                "[protection]\nover_power_w = 0\nover_power_s = 3",
                "3: [protection] over_power_s: over_power_w = 0 disables the limit"
            ),
            (
                "[protection]\nover_current = false\ntwice_rated_s = 3",
                "3: [protection] twice_rated_s: over_current = false disables the limit"
            ),
            (
                "[protection]\nunder_voltage_v = 200",
                "2: [protection] under_voltage_v: missing: a [meter] that measures it"
            ),
            (
                "[plug]\nname = \"\"\"\n[relay]\n\"\"\"\n[relais]",
                "5: [relais]: unknown table; did you mean [relay]?"
            ),
            ("[plug]\nname = \"\"\"\n[relay]\n\"\"\"\n[relais]", "5: [relais]: unknown table; did you mean [relay]?"),
        ])
    func oneMistakeIsOneMessage(text: String, message: String) {
        #expect(complaint(text) == "plugd.toml:\(message)")
    }

    @Test(
        "A syntax error is reported with the correct syntax",
        arguments: [
            ("line = GPIO17", "write a string in quotation marks: line = \"GPIO17\""),
            ("line = /dev/x # it", "write a string in quotation marks: line = \"/dev/x\""),
            ("line = \"GPIO17", "unterminated string: put \" after it"),
            (
                "line = \u{201C}GPIO17\u{201D}",
                "these are typographic quotation marks; write strings between two \""
            ),
            ("line \"GPIO17\"", "a key must be followed by = and its value: line = ..."),
            ("line: \"GPIO17\"", "a key must be followed by = and its value: line = ..."),
            ("line =", "the value is missing: line = ..."),
            ("line = # GPIO17", "the value is missing: line = ..."),
            ("active_low = yes", "write this as true, or as a string: \"yes\""),
            ("active_low = False", "write this as false, or as a string: \"False\""),
            ("interval_s = .5", "a digit must be before the point: 0.5"),
            ("interval_s = 0,5", "use a point as the decimal separator, not a comma"),
            ("; a comment", "a comment must begin with #"),
            ("[relay", "the name of a table must end with ]"),
            ("line = \"A\"\nline = \"B\"", "duplicate key line; delete one of the two"),
            ("[light]\n[light]", "duplicate table; put all its keys under one [table]"),
            (
                "a = 1 b = 2",
                "invalid TOML: Error while parsing key-value pair: expected a comment or whitespace, saw 'b'"
            ),
        ])
    func whatIsWrittenWrongIsSaidAsItIsWrittenRight(text: String, reason: String) throws {
        let told = try #require(complaint("[first]\n" + text))
        #expect(told.hasPrefix("plugd.toml:2:") || told.hasPrefix("plugd.toml:3:"))
        #expect(told.hasSuffix(": " + reason), "\(told)")
    }

    @Test("Invalid UTF-8 is reported with its line") func whatIsNoUTF8IsSaidWithItsLine() {
        func complaint(_ bytes: [UInt8]) -> String? {
            #expect(throws: ConfigurationError.self) { try PlugConfiguration(bytes, file: "f") }?.description
        }
        #expect(
            complaint(Array("[plug]\nname = \"K".utf8) + [0xFC] + Array("che\"".utf8))
                == "f:2: this line has a character that is not UTF-8; save the file as UTF-8")
        let utf16 = complaint([0xFF, 0xFE, 0x5B, 0])
        #expect(utf16 == "f: the file is UTF-16; save it as UTF-8 (in Notepad: Save As, Encoding: UTF-8)")
        // A byte order mark, which Windows writes before UTF-8, is not part of the text.
        #expect(throws: Never.self) { try PlugConfiguration([0xEF, 0xBB, 0xBF] + Array("[plug]".utf8), file: "f") }
    }

    @Test("The error value has the table, key, line and problem of each mistake") func mistakesAreData() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try PlugConfiguration("[button]\nline = \"A\"\ndebounce_ms = 900", file: "f")
        }
        let mistake = try #require(error?.mistakes.first)
        #expect(mistake.table == "button" && mistake.key == "debounce_ms" && mistake.line == 3)
        #expect(mistake.problem == .outOfRange(found: "900", allowed: "0 to 200 ms"))
    }
}
