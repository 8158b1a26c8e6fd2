import ConfigurationFiles
import Testing

@testable import PlugConfiguration

struct NumberFileTests {
    @Test("A file of numbers is parsed") func numbersAreRead() throws {
        let text = "# Written by plugd\npower_gain = 1.5\nphase_delay_us = -3\npower_offset_w = 1e-05\n"
        #expect(
            try NumberFile.parse(text, file: "c")
                == ["power_gain": 1.5, "phase_delay_us": -3, "power_offset_w": 0.00001])
        #expect(try NumberFile.parse("", file: "c").isEmpty)
    }

    @Test("Values that are not numbers are reported") func whatIsNoNumberIsSaid() {
        let error = #expect(throws: ConfigurationError.self) {
            try NumberFile.parse("a = 1\nb = \"x\"\n[t]\n", file: "c")
        }
        #expect(
            error?.description == """
                c:2: b: expected a number, not the string "x"
                c:3: [t]: this file has no tables
                """)
    }
}
