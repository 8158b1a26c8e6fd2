public import LocalCalendar

/// Series over one window of time, to be drawn as text (``text(columns:rows:glyphs:characterWidth:)``) or as a picture
/// (``svg(width:height:theme:)``) by the same layout. A value: the same chart and size always give the same output.
public struct Chart: Hashable, Sendable {
    public let title: String
    public let series: [Series]
    public let window: ChartWindow
    public let zone: ZoneOffsets
    public let startsAtZero: Bool

    /// - Parameters:
    ///   - series: All of the same unit; each unit gets a chart of its own.
    ///   - window: Without one, everything there is.
    ///   - zone: For the labels of the time axis.
    ///   - startsAtZero: Whether zero is always visible. Right for power and energy; wrong for a voltage, whose few
    ///     volts of movement would vanish.
    public init(
        title: String = "", series: [Series], window: ChartWindow? = nil, zone: ZoneOffsets = .utc,
        startsAtZero: Bool = true
    ) {
        precondition(Set(series.map(\.unit)).count <= 1, "the series of a chart share one axis and so one unit")
        self.title = printable(title)
        self.series = series
        self.window = window ?? ChartWindow(covering: series)
        self.zone = zone
        self.startsAtZero = startsAtZero
    }

    var unit: ChartUnit { series.first?.unit ?? ChartUnit("") }

    /// What marks a series without colour: none when it is alone, else A, B, C and so on (again from A after Z).
    func letter(_ index: Int) -> Character? {
        guard series.count > 1 else { return nil }
        return Character(Unicode.Scalar(UInt8(ascii: "A") + UInt8(index % 26)))
    }

    func valueAxis(intervals: Int) -> ValueAxis {
        let ranges = series.compactMap { Envelope(of: $0, in: window, columns: 1).range }
        let low = ranges.map(\.lowerBound).min()
        let high = ranges.map(\.upperBound).max()
        let range = low.flatMap { low in high.map { low...$0 } }
        return ValueAxis(showing: range, fromZero: startsAtZero, unit: unit, intervals: intervals)
    }

    /// The line of the legend: the series' name, and its figures, most important first.
    func legend(_ index: Int) -> [String] {
        let name = printable(series[index].name)
        let heading = letter(index).map { "\($0) \(name)" } ?? name
        guard let figures = Statistics(of: series[index], in: window) else { return [heading, "no data"] }
        let largest = max(abs(figures.least), abs(figures.greatest))
        let values = [
            ("last", figures.last), ("min", figures.least), ("max", figures.greatest), ("mean", figures.mean),
        ].map { "\($0) \(unit.text($1, scaledFor: largest))" }
        let gaps = figures.gaps == 0 ? [] : [figures.gaps == 1 ? "1 gap" : "\(figures.gaps) gaps"]
        return [heading] + values + gaps
    }

    /// The columns where a series bears its letter: one about every `spacing`, shifted so that those of several series
    /// do not meet.
    func bearsLetter(_ index: Int, column: Int, spacing: Int) -> Bool {
        column % spacing == (index * 2 + 1) * spacing / (series.count * 2) % spacing
    }
}
