import Foundation

/// Formats the figures of a group as a table.
func table(_ figures: [Figure], group: String) -> String {
    let rows = figures.map { figure in
        [
            figure.name, number(figure.value) + " " + figure.unit,
            figure.reference.map { "\($0.name) \(number($0.value))" } ?? "",
            figure.ratio.map { number($0) + " x" } ?? "", figure.bar.words, figure.verdict,
        ]
    }
    let header = [group, "measured", "reference", "ratio", "bar", ""]
    let all = [header] + rows
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { row in
        zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
            .trimmingCharacters(in: .whitespaces)
    }.joined(separator: "\n")
}

/// Formats the figures of a group as one JSON object per line. The keys are the properties of ``JSONFigure``.
func jsonLines(_ figures: [Figure], group: String) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try figures.map { figure in
        String(decoding: try encoder.encode(JSONFigure(figure, group: group)), as: UTF8.self)
    }.joined(separator: "\n")
}

private struct JSONFigure: Encodable {
    var benchmark: String
    var figure: String
    var value: Double
    var unit: String
    /// The name of the reference, whose value has the same unit.
    var reference: String?
    var referenceValue: Double?
    var ratio: Double?
    /// The limit of the ratio, or of the value for bars without a ratio.
    var bar: String?
    var holds: Bool

    init(_ figure: Figure, group: String) {
        benchmark = group
        self.figure = figure.name
        value = figure.value
        unit = figure.unit
        reference = figure.reference?.name
        referenceValue = figure.reference?.value
        ratio = figure.ratio
        bar = figure.bar.words.isEmpty ? nil : figure.bar.words
        holds = figure.holds
    }
}

extension Figure {
    fileprivate var verdict: String {
        if case .none = bar { return "" }
        return holds ? "holds" : "MISSED"
    }
}

extension Figure.Bar {
    fileprivate var words: String {
        switch self {
        case .ratioAtMost(let limit): "at most \(number(limit)) x"
        case .ratioAtLeast(let limit): "at least \(number(limit)) x"
        case .atMost(let limit): "at most \(number(limit))"
        case .within(let range): "\(number(range.lowerBound)) to \(number(range.upperBound))"
        case .none: ""
        }
    }
}

/// Formats a number without an exponent, with the decimal places that three significant digits need.
private func number(_ value: Double) -> String {
    let digits = value == 0 ? 0 : Int(log10(abs(value)).rounded(.down))
    return value.formatted(
        .number.grouping(.never).precision(.fractionLength(0...max(0, 2 - digits))).locale(Locale(identifier: "C")))
}
