import ProtocolCore
import Automation
import PlugProtocol

/// Numbers with units as people write them. Each reader throws what is wrong and what would be right.
enum Quantity {
    struct Mistake: Error, Hashable {
        var message: String
        var hint: String
    }

    /// More than any plug can carry.
    static let greatestWatts = 100_000.0
    static let longestDuration = Duration.seconds(31 * 86_400)
    /// The protocol's longest transition.
    static let longestTransition = Duration.seconds(3600)

    /// `40 W`, `1.5 kW`, `500 mW`: watts.
    static func watts(_ text: String) throws(Mistake) -> Double {
        let (number, unit) = try split(text, example: "40 W", units: ["W", "kW", "mW"])
        // Divided, not multiplied: 300 mW is exactly the 0.3 W that a meter reports.
        let watts = unit == "kW" ? number * 1000 : unit == "mW" ? number / 1000 : number
        guard watts.magnitude <= greatestWatts else {
            throw Mistake(message: "'\(text)' is out of range", hint: "at most 100 kW")
        }
        return watts
    }

    /// Watts of a difference: not negative.
    static func hysteresis(_ text: String) throws(Mistake) -> Double {
        let watts = try watts(text)
        guard watts >= 0 else { throw Mistake(message: "'\(text)' is out of range", hint: "0 W or more") }
        return watts
    }

    /// `250 ms`, `3 s`, `5 min`, `2 h`: at most 31 days.
    static func duration(_ text: String) throws(Mistake) -> Duration {
        try duration(text, atMost: longestDuration, "31 days (744 h)")
    }

    /// A duration of at most an hour.
    static func transition(_ text: String) throws(Mistake) -> Duration {
        try duration(text, atMost: longestTransition, "1 h")
    }

    private static func duration(_ text: String, atMost longest: Duration, _ most: String) throws(Mistake) -> Duration {
        let (number, unit) = try split(text, example: "3 s", units: ["ms", "s", "min", "h"])
        let seconds =
            switch unit {
            case "ms": number / 1000
            case "min": number * 60
            case "h": number * 3600
            case _: number
            }
        guard (0...Double(longest.components.seconds)).contains(seconds) else {
            throw Mistake(message: "'\(text)' is out of range", hint: "from 0 s to \(most)")
        }
        return .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    /// `30 %`, from 0 to 100.
    static func level(_ text: String) throws(Mistake) -> DimLevel {
        let (number, _) = try split(text, example: "30 %", units: ["%"])
        guard (0...100).contains(number) else {
            throw Mistake(message: "'\(text)' is out of range", hint: "from 0 % to 100 %")
        }
        return DimLevel(percent: number)
    }

    /// `17:00` or `17:00:30`.
    static func timeOfDay(_ text: String) throws(Mistake) -> TimeOfDay {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            (1...2).contains(part.utf8.count) && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        let second = numbers.count == 3 ? numbers[2] : 0
        if numbers.count == parts.count, (2...3).contains(parts.count), parts.dropFirst().allSatisfy({ $0.count == 2 }),
            (0..<60).contains(second), let minute = TimeOfDay(hour: numbers[0], minute: numbers[1]),
            let time = TimeOfDay(second: minute.second + second)
        {
            return time
        }
        throw Mistake(
            message: "'\(text)' is no time of day", hint: "write it as \"17:00\", from \"00:00\" to \"24:00\"")
    }

    private static func split(
        _ text: String, example: String, units: [String]
    ) throws(Mistake) -> (Double, unit: String) {
        let digits = text.prefix { "+-.0123456789".contains($0) }
        let unit = String(text.dropFirst(digits.count).drop { $0 == " " })
        guard let number = decimal(digits) else {
            let comma = unit.hasPrefix(",") ? "; the decimal sign is a point" : ""
            throw Mistake(message: "'\(text)' is no number with a unit", hint: "write it as \(example)\(comma)")
        }
        guard !unit.isEmpty else {
            throw Mistake(message: "'\(text)' has no unit", hint: "write it as \(digits) \(units[0])")
        }
        guard units.contains(unit) else {
            let meant = Suggestion.nearest(to: unit, among: units)
            throw Mistake(
                message: "the unit '\(unit)' is not known here",
                hint: meant.map { "did you mean \(digits) \($0)?" } ?? "units here: \(units.joined(separator: ", "))")
        }
        return (number, unit)
    }

    /// Digits with at most one point between them and a sign before them.
    private static func decimal(_ text: Substring) -> Double? {
        let unsigned = text.first == "-" || text.first == "+" ? text.dropFirst() : text
        let parts = unsigned.split(separator: ".", omittingEmptySubsequences: false)
        guard unsigned.utf8.count <= 20, (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }),
            unsigned.utf8.allSatisfy({ $0 == 0x2E || (0x30...0x39).contains($0) })
        else { return nil }
        return Double(text)
    }
}
