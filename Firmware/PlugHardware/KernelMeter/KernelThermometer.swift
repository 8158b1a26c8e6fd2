/// A temperature in thousandths of a degree from a kernel file: `temp` of a thermal zone, `temp1_input` of hwmon.
public struct KernelThermometer: Thermometer {
    /// The plausible range of a sensor in a plug, in degrees Celsius. A sensor outside it is broken or not connected.
    public static let range = -55.0...200.0

    private let number: AttributeNumber

    /// Creates a thermometer that reads the file.
    public init(file: any AttributeFile) { number = AttributeNumber(file: file, unit: 1e-3) }

    /// Returns tenths of a degree Celsius. Throws if the file cannot be read or its value is outside ``range``.
    public func temperature() throws(HardwareFault) -> Int16 {
        do throws(KernelFault) {
            let degrees = try number.value()
            guard Self.range.contains(degrees) else { throw KernelFault.impossible("\(degrees) °C") }
            return Int16((degrees * 10).rounded())
        } catch {
            switch error {
            case .file(let fault): throw fault
            case .impossible(let what):
                throw HardwareFault(
                    part: "thermometer",
                    reason: "not a temperature: \(what); is the sensor connected, and is the file correct?")
            }
        }
    }
}
