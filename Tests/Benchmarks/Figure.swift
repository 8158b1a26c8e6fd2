/// One line of the table: what was measured, what it is measured against, and what is asked of it.
struct Figure: Sendable {
    /// Something that was measured in the same run.
    struct Reference: Sendable {
        var name: String
        var value: Double
    }

    enum Bar: Sendable {
        /// Of the value to its reference.
        case ratioAtMost(Double), ratioAtLeast(Double)
        /// Of the value itself, where it does not depend on the machine.
        case atMost(Double), within(ClosedRange<Double>)
        /// Printed and not judged.
        case none
    }

    var name: String
    var value: Double
    /// Of the value and of the reference.
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

    /// Nil without a reference, and where that is nothing at all.
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
    /// Of the sorted values the middle one, the upper of two.
    var median: Double {
        let sorted = sorted()
        precondition(!sorted.isEmpty, "nothing was measured")
        return sorted[sorted.count / 2]
    }
}
