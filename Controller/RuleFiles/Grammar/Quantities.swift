import PlugModel

/// A kind of single value with its own syntax: a pattern, examples and a function that parses it.
struct QuantityKind<Value: Sendable>: Sendable {
    let pattern: String
    let examples: [String]
    let read: @Sendable (String) throws(Mistake) -> Value
}

enum Quantities {
    /// The greatest power in W; it exceeds every plug's rating.
    static let greatestWatts = 100_000.0
    /// The greatest energy in Wh; it exceeds the energy that a plug can measure in a year.
    static let greatestWattHours = 1e9

    private static let wattUnits = ["W", "kW", "mW"]

    /// `40 W`, `1.5 kW`, `500 mW`: a power in W. It is negative for a load that feeds power back.
    static let watts = QuantityKind(pattern: Number.pattern(wattUnits, isSigned: true), examples: ["40 W", "1.5 kW"]) {
        text throws(Mistake) in
        let (number, unit) = try Number.split(text, example: "40 W", units: wattUnits)
        // Divide instead of multiplying by 0.001: 300 mW is then exactly the 0.3 W that a meter reports.
        let watts = unit == "kW" ? number * 1000 : unit == "mW" ? number / 1000 : number
        guard watts.magnitude <= greatestWatts else { throw .outOfRange(text, "at most 100 kW") }
        return watts
    }

    /// A difference in W, not negative.
    static let hysteresis = QuantityKind(pattern: Number.pattern(wattUnits), examples: ["2 W"]) {
        text throws(Mistake) in
        let watts = try watts.read(text)
        guard text.first != "-" else { throw .outOfRange(text, "0 W or more") }
        return watts
    }

    /// `500 Wh`, `2 kWh`: an energy in Wh.
    static let wattHours = QuantityKind(pattern: Number.pattern(["kWh", "Wh"]), examples: ["2 kWh", "500 Wh"]) {
        text throws(Mistake) in
        let (number, unit) = try Number.split(text, example: "2 kWh", units: ["kWh", "Wh"])
        let wattHours = unit == "kWh" ? number * 1000 : number
        guard text.first != "-", wattHours <= greatestWattHours else {
            throw .outOfRange(text, "from 0 Wh to 1000000 kWh")
        }
        return wattHours
    }

    /// `30 %`: a level from 0 to 100 %.
    static let level = QuantityKind(pattern: Number.pattern(["%"]), examples: ["30 %"]) { text throws(Mistake) in
        let (number, _) = try Number.split(text, example: "30 %", units: ["%"])
        guard text.first != "-", number <= 100 else { throw .outOfRange(text, "from 0 % to 100 %") }
        return DimLevel(percent: number)
    }

    /// `-10 %`: a change of the level, in thousandths.
    static let levelChange = QuantityKind(pattern: Number.pattern(["%"], isSigned: true), examples: ["-10 %", "10 %"]) {
        text throws(Mistake) in
        let (number, _) = try Number.split(text, example: "-10 %", units: ["%"])
        guard number.magnitude <= 100 else { throw .outOfRange(text, "from -100 % to 100 %") }
        return Int((number * 10).rounded())
    }

    /// Parses an integer in the range.
    static func count(_ text: String, in range: ClosedRange<Int>) throws(Mistake) -> Int {
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text) else {
            throw Mistake(
                message: "'\(text)' is not a whole number",
                hint: "write a number from \(range.lowerBound) to \(range.upperBound)")
        }
        guard range.contains(count) else {
            throw .outOfRange(text, "from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// An `http://` or `https://` URL with a host, in printable ASCII.
    static let url = QuantityKind(
        pattern: #"^https?://[^/?#\s][\u0021-\u007E]*$"#, examples: ["https://house.example/hook"]
    ) { text throws(Mistake) in
        guard text.utf8.count <= RuleFileLimits.urlBytes else {
            throw Mistake(
                message: "an address has at most \(RuleFileLimits.urlBytes) bytes", hint: "put long data into 'body'")
        }
        guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else {
            throw Mistake(
                message: "'\(text.prefix(80))' is not a web address",
                hint: "begin it with http:// or https://")
        }
        guard let host = text.dropFirst(scheme.count).first, !"/?#".contains(host) else {
            throw Mistake(message: "'\(text.prefix(80))' has no host", hint: "write \(scheme)HOST/PATH")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Mistake(
                message: "an address must not contain spaces or non-ASCII characters",
                hint: "percent-encode them, such as %20")
        }
        return text
    }
}
