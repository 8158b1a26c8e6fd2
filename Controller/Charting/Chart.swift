public import LocalCalendar

/// How several lines of a chart stand to each other.
public enum ChartStyle: Hashable, Sendable {
    /// Each from zero.
    case overlaid
    /// Each on top of those before it, as an area, so that the uppermost is the sum. Values below zero are stacked downwards from
    /// zero.
    case stacked
}

/// Series over one window of time, to be drawn as text (``text(columns:rows:glyphs:characterWidth:)``) or as a picture
/// (``svg(width:height:theme:)``) by the same layout. A value: the same chart and size always give the same output.
///
/// Series of bars stand on top of each other, and are not mixed with lines.
public struct Chart: Hashable, Sendable {
    public let title: String
    public let series: [Series]
    public let style: ChartStyle
    public let marks: [ChartMark]
    public let spans: [ChartSpan]
    public let window: ChartWindow
    public let zone: ZoneOffsets
    public let startsAtZero: Bool

    /// - Parameters:
    ///   - series: All of the same unit; each unit gets a chart of its own. Either all of bars or all lines.
    ///   - window: Without one, everything there is.
    ///   - zone: For the labels of the time axis.
    ///   - startsAtZero: Whether zero is always visible. Right for power and energy; wrong for a voltage, whose few
    ///     volts of movement would vanish.
    public init(
        title: String = "", series: [Series], style: ChartStyle = .overlaid, marks: [ChartMark] = [],
        spans: [ChartSpan] = [], window: ChartWindow? = nil, zone: ZoneOffsets = .utc, startsAtZero: Bool = true
    ) {
        precondition(Set(series.map(\.unit)).count <= 1, "the series of a chart share one axis and so one unit")
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

    /// What marks a series without colour: none when it is alone, else A, B, C and so on (again from A after Z).
    func letter(_ index: Int) -> Character? {
        guard series.count > 1 else { return nil }
        return Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8(index % 26)))
    }

    /// The columns where a series bears its letter: one about every `spacing`, shifted so that those of several series
    /// do not meet.
    func bearsLetter(_ index: Int, column: Int, spacing: Int) -> Bool {
        column % spacing == (index * 2 + 1) * spacing / (series.count * 2) % spacing
    }
}

/// A chart that was looked through once, for as many columns as its plot will have, before the plot is laid out.
struct ChartLayout {
    let chart: Chart
    /// One for each series; nil where the window has nothing of it.
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
                // Where no point lies inside, a line may still cross the window.
                figures.map { $0.least...$0.greatest } ?? Envelope(of: series, in: chart.window, columns: 1).range
            }
            range = ranges.map(\.lowerBound).min().flatMap { low in ranges.map(\.upperBound).max().map { low...$0 } }
        }
        isEmpty = range == nil
        axis = ValueAxis(showing: range, fromZero: chart.startsAtZero, unit: chart.unit, intervals: intervals)
    }

    /// The line of the legend: the series' name, and its figures, most important first.
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
