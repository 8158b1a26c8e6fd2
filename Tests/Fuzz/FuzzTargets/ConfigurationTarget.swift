import ConfigurationFiles
import HouseCalendar
import PlugConfiguration
import SystemUpdates

extension FuzzTarget {
    /// Parses a plug's configuration. It is accepted, or rejected with mistakes. Each mistake has a description. If it
    /// has a line number, the number is at most one greater than the number of lines.
    static let configuration = FuzzTarget(
        name: "configuration",
        seeds: { configurations.map { Array($0.utf8) } },
        check: { bytes in
            try read(bytes) { () throws(ConfigurationError) in
                _ = try PlugConfiguration(String(decoding: bytes, as: UTF8.self), file: "fuzzed.toml")
            }
        })

    /// Parses a tariff file and a budget file in the same way.
    static let tariff = FuzzTarget(
        name: "tariff",
        seeds: { tariffs.map { Array($0.utf8) } },
        check: { bytes in
            let isBudget = try read(bytes) { () throws(ConfigurationError) in
                _ = try Budget(bytes, file: "fuzzed.toml")
            }
            let isTariff = try read(bytes) { () throws(ConfigurationError) in
                _ = try Tariff(bytes, file: "fuzzed.toml")
            }
            return isBudget || isTariff
        })

    /// Parses the settings of updates in the same way, and the description of a system at their source. A described bundle
    /// is in the folder of the description.
    static let updates = FuzzTarget(
        name: "updates",
        seeds: { updateFiles.map { Array($0.utf8) } },
        check: { bytes in
            if let newest = UpdateSource.Newest(bytes, for: "board") {
                try require(!newest.bundle.contains("/") && !newest.bundle.hasPrefix("."), "the bundle is a path")
                return true
            }
            return try read(bytes) { () throws(ConfigurationError) in
                _ = try UpdateSettings(bytes, file: "/fuzzed.toml", home: "/home/fuzzed")
            }
        })

    private static func read(_ bytes: [UInt8], _ read: () throws(ConfigurationError) -> Void) throws -> Bool {
        let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        do throws(ConfigurationError) {
            try read()
            return true
        } catch {
            try require(!error.mistakes.isEmpty, "rejected without a reason")
            for mistake in error.mistakes {
                try require(!mistake.description.isEmpty, "a mistake has no description")
                let line = mistake.line ?? 1
                try require((1...lines + 1).contains(line), "\(mistake) is in line \(line) of \(lines)")
            }
            return false
        }
    }

    private static let tariffs = [
        "[tariff]\ncurrency = \"EUR\"\nprice = 0.34\n[night]\nfrom = \"22:00\"\nto = \"06:00\"\nprice = 0.24\n",
        "[tariff]\nprice = 1\nco2 = 380\nstanding_charge = 0.4\n[weekend]\ndays = \"sat sun\"\nprice = -0.1\n",
        "[budget]\ncost = 60.5\ncurrency = \"EUR\"\n", "[budget]\nenergy = 150\n",
    ]

    private static let updateFiles = [
        "[updates]\nsource = \"https://example.org/plugs\"\nrestart = \"when-off\"\nquiet_time = \"22:00-05:00\"\n",
        "[updates]\nsource = \"~/systems\" # a folder\nbroker = true\nrestart = 'later'\n",
        "{\"board\": \"board\", \"system\": \"0.1.0+2\", \"bundle\": \"board.raucb\"}",
    ]

    private static let configurations = [
        "[relay]\nline = \"GPIO17\"\nactive_low = true\n[button]\nchip = \"gpiochip0\"\noffset = 27\nbias = \"none\"\n",
        "[meter]\nkind = \"ina226\"\naddress = 0x41\nshunt_ohms = 0.002 # of the board\ninterval_s = 0.1\n",
        "[network]\ninterface = \"eth0\"\naddress = \"192.168.1.20/24\"\nrouter = \"192.168.1.1\"\n"
            + "name_servers = [\"192.168.1.1\", \"9.9.9.9\"]\n",
        "relay = { kind = 'latching', on_line = 'A', off_line = 'B', pulse_ms = 30 }\n[power]\nauto_off_s = 90\n",
        "[meter]\nkind = \"ina219\"\nshunt_ohms = 0.1\n"
            + "[protection]\nrated_current_a = 3\nrated_voltage_v = 24\nunder_voltage_v = 18.5\nwelded_relay = false\n",
    ]
}
