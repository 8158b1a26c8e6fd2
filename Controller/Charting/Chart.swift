public import HouseCalendar

/// The arrangement of several lines in a chart.
public enum ChartStyle: Hashable, Sendable {
    /// Each line is drawn at its own values, over the previous lines.
    case overlaid
    /// Each line is an area on top of the previous ones, so that the highest edge is the sum. Negative values are
    /// stacked downwards from zero.
    case stacked
}

/// Series over one time window, drawn as text (``text(columns:rows:glyphs:characterWidth:)``) or as SVG
/// (``svg(width:height:theme:)``) with the same layout. The output depends only on the chart and the size.
///
/// Series of bars are stacked and cannot be mixed with lines.
public struct Chart: Hashable, Sendable {
    /// The title without control characters.
    public let title: String
    /// The series, all with the same unit.
    public let series: [Series]
    /// The arrangement of several lines.
    public let style: ChartStyle
    /// The marks in any order.
    public let marks: [ChartMark]
    /// The spans in any order.
    public let spans: [ChartSpan]
    /// The time range.
    public let window: ChartWindow
    /// The time zone of the time axis.
    public let zone: ZoneOffsets
    /// True if zero is always visible.
    public let startsAtZero: Bool

    /// Creates a chart.
    ///
    /// - Parameters:
    ///   - title: The title; control characters are removed.
    ///   - series: The series, all with the same unit. Either all have bars or all are lines.
    ///   - style: The arrangement of several lines.
    ///   - marks: Events at moments.
    ///   - spans: Events with a duration.
    ///   - window: The time range; if nil, from the first to the last time of the series.
    ///   - zone: The time zone of the time axis.
    ///   - startsAtZero: True if zero is always visible. Suitable for power and energy; unsuitable for a voltage, whose
    ///     changes of a few volts would become invisible.
    public init(
        title: String = "", series: [Series], style: ChartStyle = .overlaid, marks: [ChartMark] = [],
        spans: [ChartSpan] = [], window: ChartWindow? = nil, zone: ZoneOffsets = .utc, startsAtZero: Bool = true
    ) {
        precondition(Set(series.map(\.unit)).count <= 1, "the series of a chart share one unit")
        self.title = printable(title)
        self.series = series
        self.style = style
        self.marks = marks
        self.spans = spans
        self.window = window ?? ChartWindow(covering: series)
        self.zone = zone
        self.startsAtZero = startsAtZero
    }

    var unit: ChartUnit { series.first?.unit ?? ChartUnit("") }
    var hasBars: Bool { series.contains { !$0.bars.isEmpty } }
    var isStacked: Bool { style == .stacked && series.count > 1 }

    /// The letter that identifies a series where colours are not visible: nil for a single series, else A to Z, then A
    /// again.
    func letter(_ index: Int) -> Character? {
        guard series.count > 1 else { return nil }
        return Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8(index % 26)))
    }

    /// Returns true for the columns in which a series shows its letter: about one column in `spacing`, shifted per
    /// series so that the letters do not overlap.
    func bearsLetter(_ index: Int, column: Int, spacing: Int) -> Bool {
        column % spacing == (index * 2 + 1) * spacing / (series.count * 2) % spacing
    }
}

/// The figures and the value axis of a chart, computed once for the number of columns of its plot.
struct ChartLayout {
    let chart: Chart
    /// The figures of each series; nil if the series has no data in the window.
    let figures: [Statistics?]
    let axis: ValueAxis
    let isEmpty: Bool

    init(_ chart: Chart, columns: Int, intervals: Int) {
        self.chart = chart
        let figures = chart.series.map { Statistics(of: $0, in: chart.window) }
        self.figures = figures
        let range: ClosedRange<Double>?
        if chart.hasBars {
            range = BarStack(chart).highest.map { 0...$0 }
        } else if chart.isStacked {
            range = Layers(chart, columns: columns).range
        } else {
            let ranges = zip(chart.series, figures).compactMap { series, figures -> ClosedRange<Double>? in
                // Without a point in the window, a line may still cross it.
                figures.map { $0.least...$0.greatest } ?? Envelope(of: series, in: chart.window, columns: 1).range
            }
            range = ranges.map(\.lowerBound).min().flatMap { low in ranges.map(\.upperBound).max().map { low...$0 } }
        }
        isEmpty = range == nil
        axis = ValueAxis(showing: range, fromZero: chart.startsAtZero, unit: chart.unit, intervals: intervals)
    }

    /// Returns the parts of the legend: the name of the series and its figures, most important first.
    func legend(_ index: Int) -> [String] {
        let series = chart.series[index]
        let name = printable(series.name)
        let heading = chart.letter(index).map { "\($0) \(name)" } ?? name
        if chart.hasBars { return [heading] + bars(series) }
        guard let figures = figures[index] else { return [heading, "no data"] }
        let largest = max(abs(figures.least), abs(figures.greatest))
        let values = [
            ("last", figures.last), ("min", figures.least), ("max", figures.greatest), ("mean", figures.mean),
        ].map { "\($0) \(chart.unit.text($1, scaledFor: largest))" }
        let gaps = figures.gaps == 0 ? [] : [figures.gaps == 1 ? "1 gap" : "\(figures.gaps) gaps"]
        return [heading] + values + gaps
    }

    private func bars(_ series: Series) -> [String] {
        let values = series.bars(in: chart.window).map(\.value)
        guard let least = values.min(), let greatest = values.max() else { return ["no data"] }
        let total = values.reduce(0, +)
        let mean = total / Double(values.count)
        let estimated = series.bars(in: chart.window).map(\.estimated).reduce(0, +)
        let share = estimated / max(total, 1e-9) * 100
        return ["total \(chart.unit.text(total))"]
            + (share >= 0.05 ? ["\(fixed(share, decimals: 1)) % estimated"] : [])
            + [("max", greatest), ("min", least), ("mean", mean)].map {
                "\($0) \(chart.unit.text($1, scaledFor: greatest))"
            }
    }
}
