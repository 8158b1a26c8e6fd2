import ProtocolCore

/// Parses a number with a unit: `40 W`, `40W`, `1.5 kW`.
enum Number {
    /// Returns a regular expression for numbers with one of the units. `isSigned`: the number may be negative.
    static func pattern(_ units: [String], isSigned: Bool = false) -> String {
        "^\(isSigned ? "[+-]?" : "\\+?")[0-9]{1,19}(\\.[0-9]{1,19})? *(\(units.joined(separator: "|")))$"
    }

    static func split(_ text: String, example: String, units: [String]) throws(Mistake) -> (Double, unit: String) {
        let digits = text.prefix { "+-.0123456789".contains($0) }
        let unit = String(text.dropFirst(digits.count).drop { $0 == " " })
        guard let number = decimal(digits) else {
            let comma = unit.hasPrefix(",") ? "; use a point as the decimal separator" : ""
            throw Mistake(message: "'\(text)' is not a number with a unit", hint: "write it as \(example)\(comma)")
        }
        guard !unit.isEmpty else {
            let usual = units.contains("min") ? ["s", "min", "h"] : [units[0]]
            let hint = "write it as " + usual.map { "\(digits) \($0)" }.joined(separator: ", ")
            throw Mistake(message: "'\(text)' has no unit", hint: hint)
        }
        guard units.contains(unit) else {
            let meant = habits[unit.lowercased()].flatMap { units.contains($0) ? $0 : nil }
            let hint =
                (meant ?? Suggestion.nearest(to: unit, among: units)).map { "did you mean \(digits) \($0)?" }
                ?? "the units are \(units.joined(separator: ", "))"
            throw Mistake(message: "unknown unit '\(unit)'", hint: hint)
        }
        return (number, unit)
    }

    /// Common spellings of units, with the units of this grammar.
    private static let habits = [
        "sec": "s", "secs": "s", "second": "s", "seconds": "s", "m": "min", "mins": "min", "minute": "min",
        "minutes": "min", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "watt": "W",
        "watts": "W", "percent": "%",
    ]

    /// Parses digits with at most one decimal point between them, and an optional sign. Returns nil for any other text.
    private static func decimal(_ text: Substring) -> Double? {
        let unsigned = text.first == "-" || text.first == "+" ? text.dropFirst() : text
        let parts = unsigned.split(separator: ".", omittingEmptySubsequences: false)
        guard unsigned.utf8.count <= 20, (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            unsigned.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) })
        else { return nil }
        return Double(text)
    }
}
