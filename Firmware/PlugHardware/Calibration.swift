/// The deviation of one board from the nominal values of its parts. Gains of one and offsets of zero describe a nominal
/// board.
///
/// A file stores a calibration as numbers, ``values``. A number outside the range of its field is rejected as
/// implausible.
public struct Calibration: Hashable, Sendable {
    /// The factor for measured volts.
    public var voltageGain = 1.0
    /// The factor for measured amperes.
    public var currentGain = 1.0
    /// The factor for measured watts, vars and watt-hours.
    public var powerGain = 1.0
    /// The offset in watts that is added after the gain is applied: the negated reading without a load.
    public var powerOffset = 0.0
    /// The delay of the current in microseconds, for a meter that can compensate it.
    public var phaseDelay = 0.0

    /// Creates the calibration of a nominal board.
    public init() {}

    /// The upper limit of a gain; the lower limit is its reciprocal. A larger deviation means a different board, or a
    /// wrong load.
    public static let farthestGain = 2.0

    /// One number of the file.
    public struct Field: Sendable {
        /// The name in the file.
        public let name: String
        /// The valid range of the value.
        public let range: ClosedRange<Double>
        /// The unit for messages; empty for a factor.
        public let unit: String
        let path: any WritableKeyPath<Calibration, Double> & Sendable
    }

    /// The fields in the order of the file.
    public static let fields: [Field] = [
        Field(name: "voltage_gain", range: 0.5...farthestGain, unit: "", path: \.voltageGain),
        Field(name: "current_gain", range: 0.5...farthestGain, unit: "", path: \.currentGain),
        Field(name: "power_gain", range: 0.5...farthestGain, unit: "", path: \.powerGain),
        Field(name: "power_offset_w", range: -5...5, unit: "W", path: \.powerOffset),
        Field(name: "phase_delay_us", range: -400...400, unit: "µs", path: \.phaseDelay),
    ]

    /// Creates a calibration from the values of a file.
    /// - Parameter values: the values by the names of ``fields``; missing ones are nominal.
    /// - Throws: `CalibrationFault` for the first value that has no field or is out of range.
    public init(values: [String: Double]) throws(CalibrationFault) {
        for name in values.keys.sorted() where !Self.fields.contains(where: { $0.name == name }) {
            throw CalibrationFault(reason: "unknown key \(name) in the calibration")
        }
        for field in Self.fields {
            guard let value = values[field.name] else { continue }
            guard field.range.contains(value) else {
                let unit = field.unit.isEmpty ? "" : " " + field.unit
                throw CalibrationFault(
                    reason: "\(field.name) is \(value); only "
                        + "\(field.range.lowerBound) to \(field.range.upperBound)\(unit) is possible")
            }
            self[keyPath: field.path] = value
        }
    }

    /// The names and values of all fields, in the order of the file.
    public var values: [(name: String, value: Double)] {
        Self.fields.map { ($0.name, self[keyPath: $0.path]) }
    }
}

/// The reason why numbers are not a valid calibration.
public struct CalibrationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error, with a hint if possible.
    public var reason: String

    /// Creates a fault.
    public init(reason: String) { self.reason = reason }

    public var description: String { reason }
}
