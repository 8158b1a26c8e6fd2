/// One quantity of a kernel device: a file of hwmon, or one of iio with its scale and offset.
struct KernelChannel: Sendable {
    let number: AttributeNumber
    /// The scale of iio: (raw + offset) times scale. Nil if the file contains the final value.
    var scale: AttributeNumber?
    var offset: AttributeNumber?

    func value() throws(KernelFault) -> Double {
        guard let scale else { return try number.value() }
        return try (number.value() + (offset?.value() ?? 0)) * scale.value()
    }

    /// Opens the first existing hwmon file of the names.
    static func hwmon(
        _ names: [String], unit: Double, _ open: (String) -> (any AttributeFile)?
    ) -> KernelChannel? {
        for name in names {
            if let file = open(name) { return KernelChannel(number: AttributeNumber(file: file, unit: unit)) }
        }
        return nil
    }

    /// Opens the first existing iio channel. `in_voltage1` means the file in_voltage1_input, or in_voltage1_raw with
    /// in_voltage1_scale or in_voltage_scale.
    static func iio(
        _ channels: [String], unit: Double, _ open: (String) -> (any AttributeFile)?
    ) -> KernelChannel? {
        for channel in channels {
            if let file = open(channel + "_input") {
                return KernelChannel(number: AttributeNumber(file: file, unit: unit))
            }
            guard let raw = open(channel + "_raw") else { continue }
            let kind = String(channel.reversed().drop { $0.isNumber }.reversed())
            return KernelChannel(
                number: AttributeNumber(file: raw, unit: 1),
                // Without a scale the raw number is already in the unit.
                scale: (open(channel + "_scale") ?? open(kind + "_scale")).map { AttributeNumber(file: $0, unit: unit) }
                    ?? AttributeNumber(file: SingleAttribute(), unit: unit),
                offset: (open(channel + "_offset") ?? open(kind + "_offset")).map {
                    AttributeNumber(file: $0, unit: 1)
                })
        }
        return nil
    }
}

private struct SingleAttribute: AttributeFile {
    func read() -> String { "1" }
}
