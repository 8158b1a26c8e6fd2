import ConfigurationFiles

extension ConfigurationReader {
    private enum Kind: String, CaseIterable {
        case ade7953, ina219, ina226, ina260, hwmon, iio

        static let all = "ade7953, ina219, ina226, ina260, hwmon or iio"

        var isChip: Bool {
            switch self {
            case .ade7953, .ina219, .ina226, .ina260: true
            case .hwmon, .iio: false
            }
        }

        var hasShunt: Bool {
            switch self {
            case .ina219, .ina226: true
            case .ade7953, .ina260, .hwmon, .iio: false
            }
        }

        /// The possible addresses of the chip and the default address.
        var addresses: (range: ClosedRange<Int>, usual: Int) {
            self == .ade7953 ? (0x38...0x38, 0x38) : (0x40...0x4F, 0x40)
        }
    }

    func meter() -> MeterConfiguration? {
        let table = table("meter")
        let kind = table.choice("kind", Kind.self)
        let isReversed = table.boolean("reversed") ?? false
        let interval = table.number("interval_s", 0.1...60, "s")
        let noLoad = table.number("no_load_w", 0...100, "W")
        let calibration = table.path("calibration", "the calibration's file")
        // Without a kind the validity of these keys is unknown.
        guard let kind else {
            for key in ["bus", "address", "shunt_ohms", "channel", "name", "path"] { table.admit(key) }
            if table.isThere, !table.has("kind") {
                table.wrong(.missing("the kind of the meter: \(Kind.all)"), "kind")
            }
            return nil
        }
        guard let meter = kind.isChip ? chip(kind, table) : attributes(kind, table) else { return nil }
        var configuration = MeterConfiguration(meter, isReversed: isReversed, noLoad: noLoad, calibration: calibration)
        if let interval { configuration.interval = .milliseconds(Int64((interval * 1000).rounded())) }
        return configuration
    }

    private func chip(_ kind: Kind, _ table: Table) -> MeterConfiguration.Kind? {
        let bus = table.path("bus", "the bus's device such as /dev/i2c-1") ?? "/dev/i2c-1"
        let address = table.integer("address", kind.addresses.range, radix: 16) ?? kind.addresses.usual
        for key in ["name", "path"] { table.refuse(key, "only a meter of kind = \"hwmon\" or \"iio\" has this key") }
        let chip = MeterConfiguration.Chip(bus: bus, address: UInt8(address))
        var channel = MeterConfiguration.Channel.a
        if kind == .ade7953 {
            channel = table.choice("channel", MeterConfiguration.Channel.self) ?? .a
        } else {
            table.refuse("channel", "only a meter of kind = \"ade7953\" has two channels")
        }
        var shunt: Double?
        if kind.hasShunt {
            shunt = table.number("shunt_ohms", 0.0001...10, "ohms")
            if !table.has("shunt_ohms") {
                table.wrong(.missing("the resistor on the board; R100 is 0.1"), "shunt_ohms")
            }
        } else {
            table.refuse("shunt_ohms", "a meter of kind = \"\(kind.rawValue)\" has no shunt setting")
        }
        switch kind {
        case .ade7953: return .ade7953(chip, channel)
        case .ina219: return shunt.map { .ina219(chip, shuntOhms: $0) }
        case .ina226: return shunt.map { .ina226(chip, shuntOhms: $0) }
        case .ina260: return .ina260(chip)
        case .hwmon, .iio: preconditionFailure("the kernel drives this chip")
        }
    }

    private func attributes(_ kind: Kind, _ table: Table) -> MeterConfiguration.Kind? {
        for key in ["bus", "address", "shunt_ohms", "channel"] {
            table.refuse(key, "the kernel drives the chip of a meter of kind = \"\(kind.rawValue)\"")
        }
        let name = table.text("name", "the driver's name")
        let path = table.path("path", "the directory with the values")
        let attributes: MeterConfiguration.Attributes
        switch (name, path) {
        case (let name?, nil) where !table.has("path"): attributes = .named(name)
        case (nil, let path?) where !table.has("name"): attributes = .directory(path)
        case (.some, .some):
            table.wrong(.needless("name already selects the values: remove one of the two keys"), "path")
            return nil
        case (_, _):
            if !table.has("name"), !table.has("path") {
                table.wrong(.missing("the driver's name, or path with its directory"), "name")
            }
            return nil
        }
        return kind == .hwmon ? .hwmon(attributes) : .iio(attributes)
    }
}
