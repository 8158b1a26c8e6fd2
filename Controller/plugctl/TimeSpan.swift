import ArgumentParser

/// A duration as users write it: `500ms`, `3s`, `10m`, `2h`, `1d`; a bare number is seconds. The maximum is 366 days.
struct TimeSpan: ExpressibleByArgument, CustomStringConvertible {
    let duration: Duration
    private let text: String

    init(_ duration: Duration) {
        self.duration = duration
        text = "\(duration.components.seconds)s"
    }

    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let units: [Substring: Double] = ["ms": 0.001, "s": 1, "": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400]
        guard let value = Double(number), let unit = units[argument.dropFirst(number.count)] else { return nil }
        guard value * unit <= 366 * 86_400 else { return nil }
        duration = .nanoseconds(Int64(value * unit * 1e9))
        text = argument
    }

    var description: String { text }
    var defaultValueDescription: String { text }
}

/// The length of a time span that ends now, as users write it: as ``TimeSpan``, and `8w`, `3y`; at most 200 years.
struct PastSpan: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        let days: [Character: Double] = ["d": 1, "w": 7, "y": 365.25]
        guard let unit = argument.last.flatMap({ days[$0] }) else {
            guard let span = TimeSpan(argument: argument) else { return nil }
            duration = span.duration
            return
        }
        let number = argument.dropLast()
        guard number.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
        guard let value = Double(number), value * unit <= 200 * 365.25 else { return nil }
        duration = .seconds(value * unit * 86_400)
    }
}

/// A dim level as users write it: `30%`, `30`.
struct Percent: ExpressibleByArgument {
    let value: Double
    /// The argument with its unit, as in `30 %`.
    let text: String

    init?(argument: String) {
        let digits = argument.hasSuffix("%") ? String(argument.dropLast()) : argument
        guard let value = Double(digits), (0...100).contains(value) else { return nil }
        self.value = value
        text = digits + " %"
    }
}

/// Active power as users write it: `5W`, `500mW`, `1.5kW`; a bare number is watts.
struct Watts: ExpressibleByArgument {
    let milliwatts: UInt32

    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = argument.dropFirst(number.count).drop { $0 == " " }
        let units: [Substring: Double] = ["mW": 1, "W": 1000, "": 1000, "kW": 1_000_000]
        guard let value = Double(number), let factor = units[unit] else { return nil }
        guard let milliwatts = UInt32(exactly: (value * factor).rounded()) else { return nil }
        self.milliwatts = milliwatts
    }
}
