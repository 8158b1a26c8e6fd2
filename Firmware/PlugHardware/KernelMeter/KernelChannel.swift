/// One quantity of a device of the kernel's: a file of hwmon, or one of iio with its scale and offset beside it.
struct KernelChannel: Sendable {
    let number: AttributeNumber
    /// Iio: (raw + offset) times scale. Nil where the file has the value as it is.
    var scale: AttributeNumber?
    var offset: AttributeNumber?

    func value() throws(KernelFault) -> Double {
        guard let scale else { return try number.value() }
        return try (number.value() + (offset?.value() ?? 0)) * scale.value()
    }

    /// Of hwmon, the first of the names that there is.
    static func hwmon(
        _ names: [String], unit: Double, _ open: (String) -> (any AttributeFile)?
    ) -> KernelChannel? {
        for name in names {
            if let file = open(name) { return KernelChannel(number: AttributeNumber(file: file, unit: unit)) }
        }
        return nil
    }

    /// Of iio, the first of the channels that there is; `in_voltage1` means in_voltage1_input, or in_voltage1_raw with
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
                // Without a scale the raw number is in the unit already.
                scale: (open(channel + "_scale") ?? open(kind + "_scale")).map { AttributeNumber(file: $0, unit: unit) }
                    ?? AttributeNumber(file: One(), unit: unit),
                offset: (open(channel + "_offset") ?? open(kind + "_offset")).map {
                    AttributeNumber(file: $0, unit: 1)
                })
        }
        return nil
    }
}

private struct One: AttributeFile {
    func read() -> String { "1" }
}
