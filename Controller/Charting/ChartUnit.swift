/// The unit of a series, and whether large and small values get a prefix (kW, mA).
public struct ChartUnit: Hashable, Sendable {
    /// The symbol without prefix, for example "W".
    public let symbol: String
    /// True if values are scaled with m, k, M or G.
    public let takesPrefix: Bool

    /// Creates a unit.
    ///
    /// - Parameters:
    ///   - symbol: The symbol without prefix.
    ///   - takesPrefix: True if values are scaled with m, k, M or G.
    public init(_ symbol: String, takesPrefix: Bool = false) {
        self.symbol = symbol
        self.takesPrefix = takesPrefix
    }

    /// Power in W.
    public static let watts = ChartUnit("W", takesPrefix: true)
    /// Energy in Wh.
    public static let wattHours = ChartUnit("Wh", takesPrefix: true)
    /// Voltage in V.
    public static let volts = ChartUnit("V", takesPrefix: true)
    /// Current in A.
    public static let amperes = ChartUnit("A", takesPrefix: true)
    /// A percentage, without prefixes.
    public static let percent = ChartUnit("%")

    /// Formats a value with its unit, at most four significant digits below 10,000 and no trailing zeros: "118.3 W",
    /// "2150 W", "12.4 kW".
    public func text(_ value: Double) -> String { text(value, scaledFor: value) }

    /// Formats a value with the prefix of a reference value, so that related values can be compared.
    public func text(_ value: Double, scaledFor reference: Double) -> String {
        let prefix = Prefix.fitting(abs(reference), of: self)
        let scaled = value / prefix.factor
        let magnitude = abs(scaled)
        let decimals = magnitude >= 999.95 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3
        let number = trimmed(fixed(scaled, decimals: decimals))
        let name = prefix.symbol + symbol
        return name.isEmpty ? number : "\(number) \(name)"
    }
}

/// A power of a thousand as the prefix of a unit.
struct Prefix: Hashable {
    let symbol: String
    let factor: Double
    /// The power of ten of the factor.
    let exponent: Int

    static let none = Prefix(symbol: "", factor: 1, exponent: 0)

    /// Returns the prefix for a magnitude. Four digits are readable without a prefix (a kettle is sold with 2200 W),
    /// five are not.
    static func fitting(_ magnitude: Double, of unit: ChartUnit) -> Prefix {
        guard unit.takesPrefix, magnitude > 0 else { return none }
        if magnitude >= 10_000_000_000 { return Prefix(symbol: "G", factor: 1_000_000_000, exponent: 9) }
        if magnitude >= 10_000_000 { return Prefix(symbol: "M", factor: 1_000_000, exponent: 6) }
        if magnitude >= 10_000 { return Prefix(symbol: "k", factor: 1000, exponent: 3) }
        if magnitude < 0.1 { return Prefix(symbol: "m", factor: 0.001, exponent: -3) }
        return none
    }
}

/// Formats a number with 0 to 9 decimals, rounded half away from zero; never "-0".
func fixed(_ value: Double, decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded(.toNearestOrAwayFromZero)
    // Above 2^53 a Double has no fractional digits.
    guard abs(scaled) < 9e15 else { return value.description }
    let units = Int64(abs(scaled))
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(units) }
    let digits = String(units)
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}

/// Removes trailing zeros of a fraction.
private func trimmed(_ number: String) -> String {
    guard number.contains("."), !number.contains("e") else { return number }
    var text = number
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text
}
