/// One line of the table: a measured value, its reference and its bar.
struct Figure: Sendable {
    /// A value that was measured in the same run for comparison.
    struct Reference: Sendable {
        var name: String
        var value: Double
    }

    /// The requirement that a value must meet.
    enum Bar: Sendable {
        /// Limits of the value's ratio to its reference.
        case ratioAtMost(Double), ratioAtLeast(Double)
        /// Limits of the value itself, in the figure's unit.
        case atMost(Double), within(ClosedRange<Double>)
        /// No requirement; the value is only printed.
        case none
    }

    var name: String
    var value: Double
    /// The unit of the value and of the reference.
    var unit: String
    var reference: Reference?
    var bar: Bar

    init(_ name: String, _ value: Double, _ unit: String, against reference: Reference? = nil, _ bar: Bar = .none) {
        self.name = name
        self.value = value
        self.unit = unit
        self.reference = reference
        self.bar = bar
    }

    /// The value divided by its reference, or nil if the reference is missing or zero.
    var ratio: Double? { reference.flatMap { $0.value == 0 ? nil : value / $0.value } }

    var holds: Bool {
        switch bar {
        case .ratioAtMost(let limit): ratio.map { $0 <= limit } ?? false
        case .ratioAtLeast(let limit): ratio.map { $0 >= limit } ?? false
        case .atMost(let limit): value <= limit
        case .within(let range): range.contains(value)
        case .none: true
        }
    }
}

extension Sequence<Double> {
    /// The median; for an even count, the upper of the two middle values. Requires at least one value.
    var median: Double {
        let sorted = sorted()
        precondition(!sorted.isEmpty, "nothing was measured")
        return sorted[sorted.count / 2]
    }
}
