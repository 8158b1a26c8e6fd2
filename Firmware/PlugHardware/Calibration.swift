/// How one board differs from what its parts promise. All ones and zeros is a board as it should be.
///
/// A file keeps it as scalars, ``values``; what is absurd there is refused by the range of its field.
public struct Calibration: Hashable, Sendable {
    /// By which measured volts are multiplied.
    public var voltageGain = 1.0
    /// By which measured amperes are multiplied.
    public var currentGain = 1.0
    /// By which measured watts, vars and watt-hours are multiplied.
    public var powerGain = 1.0
    /// Watts that are added after that: what the meter shows with its sign turned while nothing flows.
    public var powerOffset = 0.0
    /// Microseconds by which the current is late, for a meter that can make up for it.
    public var phaseDelay = 0.0

    public init() {}

    /// A gain is at most so far from 1, to either side. Beyond, it is another board, or another load than was said.
    public static let farthestGain = 2.0

    /// One number of the file.
    public struct Field: Sendable {
        /// As it is called in the file.
        public let name: String
        public let range: ClosedRange<Double>
        public let unit: String
        let path: any WritableKeyPath<Calibration, Double> & Sendable
    }

    /// In the order of the file.
    public static let fields: [Field] = [
        Field(name: "voltage_gain", range: 0.5...farthestGain, unit: "", path: \.voltageGain),
        Field(name: "current_gain", range: 0.5...farthestGain, unit: "", path: \.currentGain),
        Field(name: "power_gain", range: 0.5...farthestGain, unit: "", path: \.powerGain),
        Field(name: "power_offset_w", range: -5...5, unit: "W", path: \.powerOffset),
        Field(name: "phase_delay_us", range: -400...400, unit: "µs", path: \.phaseDelay),
    ]

    /// - Parameter values: by the names of ``fields``; what is missing is as it should be.
    /// - Throws: the first value that has no field or lies outside its range.
    public init(values: [String: Double]) throws(CalibrationFault) {
        for name in values.keys.sorted() where !Self.fields.contains(where: { $0.name == name }) {
            throw CalibrationFault(reason: "there is no \(name) in a calibration")
        }
        for field in Self.fields {
            guard let value = values[field.name] else { continue }
            guard field.range.contains(value) else {
                let unit = field.unit.isEmpty ? "" : " " + field.unit
                throw CalibrationFault(
                    reason: "\(field.name) is \(value), and only "
                        + "\(field.range.lowerBound) to \(field.range.upperBound)\(unit) make sense")
            }
            self[keyPath: field.path] = value
        }
    }

    /// Names and values of all fields, in the order of the file.
    public var values: [(name: String, value: Double)] {
        Self.fields.map { ($0.name, self[keyPath: $0.path]) }
    }
}

/// Why numbers are no calibration.
public struct CalibrationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and, where one is known, what to try.
    public var reason: String

    public init(reason: String) { self.reason = reason }

    public var description: String { reason }
}
