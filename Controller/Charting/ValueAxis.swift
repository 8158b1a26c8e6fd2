/// The value axis: bounds and ticks at round numbers (multiples of 1, 2 or 5 times a power of ten).
struct ValueAxis: Hashable {
    let lower: Double
    let upper: Double
    /// The ticks in ascending order, from `lower` to `upper`.
    let ticks: [Double]
    let labels: [String]
    /// The unit with its prefix, as printed near the labels.
    let unit: String

    /// Chooses bounds and ticks.
    ///
    /// - Parameters:
    ///   - range: The values to be shown; nil without data.
    ///   - fromZero: True if zero must be visible.
    ///   - unit: The unit of the values.
    ///   - intervals: The maximum number of intervals between ticks, at least 1.
    init(showing range: ClosedRange<Double>?, fromZero: Bool, unit: ChartUnit, intervals: Int) {
        let wanted = ValueAxis.widened(range ?? 0...0, fromZero: fromZero)
        var step = RoundStep(atLeast: (wanted.upperBound - wanted.lowerBound) / Double(max(1, intervals)))
        var first = (wanted.lowerBound / step.value).rounded(.down)
        var last = (wanted.upperBound / step.value).rounded(.up)
        // Rounding the bounds outwards can add a step at both ends. Around zero there are always at least two steps.
        while last - first > Double(max(1, intervals)), first != -1 || last != 1 {
            step = step.next
            first = (wanted.lowerBound / step.value).rounded(.down)
            last = (wanted.upperBound / step.value).rounded(.up)
        }
        let ticks = (0...Int(last - first)).map { (first + Double($0)) * step.value }
        let largest = max(abs(ticks.first ?? 0), abs(ticks.last ?? 0))
        let prefix = Prefix.fitting(largest, of: unit)
        let decimals = max(0, prefix.exponent - step.exponent)
        lower = ticks.first ?? 0
        upper = ticks.last ?? 1
        self.ticks = ticks
        labels = ticks.map { fixed($0 / prefix.factor, decimals: min(decimals, 9)) }
        self.unit = prefix.symbol + unit.symbol
    }

    /// Widens the range. A constant series gets room above and below; a range too narrow for a Double's precision
    /// counts as constant.
    private static func widened(_ range: ClosedRange<Double>, fromZero: Bool) -> ClosedRange<Double> {
        let low = fromZero ? min(0, range.lowerBound) : range.lowerBound
        let high = fromZero ? max(0, range.upperBound) : range.upperBound
        let magnitude = max(abs(low), abs(high))
        guard magnitude >= 1e-6 else { return 0...1 }
        guard high - low < magnitude * 1e-9 else { return low...high }
        return (low - magnitude / 20)...(high + magnitude / 20)
    }

    /// Returns the position of a value: 0 at the lower bound, 1 at the upper bound, limited to that range.
    func fraction(of value: Double) -> Double { min(max((value - lower) / (upper - lower), 0), 1) }
}

/// A step of 1, 2 or 5 times a power of ten.
struct RoundStep: Hashable {
    private(set) var digit: Int
    private(set) var exponent: Int

    /// Creates the smallest round step that is not below the value, which must be positive.
    init(atLeast value: Double) {
        precondition(value > 0 && value.isFinite, "a step is positive")
        digit = 1
        exponent = 0
        while RoundStep.value(1, exponent) > value { exponent -= 1 }
        while self.value < value { self = next }
    }

    private init(digit: Int, exponent: Int) {
        self.digit = digit
        self.exponent = exponent
    }

    var value: Double { RoundStep.value(digit, exponent) }

    var next: RoundStep {
        switch digit {
        case 1: RoundStep(digit: 2, exponent: exponent)
        case 2: RoundStep(digit: 5, exponent: exponent)
        default: RoundStep(digit: 1, exponent: exponent + 1)
        }
    }

    /// Returns the value of a step. Negative exponents use a division, since 0.1 is not exact and its powers accumulate
    /// errors.
    private static func value(_ digit: Int, _ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<abs(exponent) { power *= 10 }
        return exponent < 0 ? Double(digit) / power : Double(digit) * power
    }
}
