/// The layout of a chart in pixels: title, signs of marks, rows of spans, the plot with the value axis on its left,
/// time labels, legend.
struct SVGPlot {
    static let characterWidth = 7
    static let laneHeight = 16
    private static let titleHeight = 38
    private static let markHeight = 18
    private static let timeHeight = 26
    private static let legendHeight = 18
    /// The minimum number of columns of a truncated title.
    private static let leastTitle = 16

    let chart: Chart
    let layout: ChartLayout
    let marks: MarkTable
    let lanes: [[ChartSpan]]
    let left: Int
    let top: Int
    let plotWidth: Int
    let plotHeight: Int
    private let width: Int
    private let markLines: [String]
    /// The number of legend lines: one per series, or fewer if the plot would get less than half of the height.
    private let legendCount: Int

    var bottom: Int { top + plotHeight }
    private var axis: ValueAxis { layout.axis }

    /// Computes the layout; nil if the size is too small.
    init?(chart: Chart, width: Int, height: Int) {
        self.chart = chart
        self.width = width
        marks = MarkTable(chart.marks, in: chart.window)
        lanes = SpanLanes(chart.spans, in: chart.window).lanes
        markLines = SVGPlot.lines(marks.entries.map(\.text), characters: (width - 20) / SVGPlot.characterWidth)
        top =
            SVGPlot.titleHeight + (marks.entries.isEmpty ? 0 : SVGPlot.markHeight) + lanes.count * SVGPlot.laneHeight
        let room = (height - top - SVGPlot.timeHeight) / 2 / SVGPlot.legendHeight
        legendCount = min(chart.series.count, max(room, 1))
        let legendLines = legendCount + markLines.count
        plotHeight = height - top - SVGPlot.timeHeight - legendLines * SVGPlot.legendHeight - 8
        let intervals = max(1, plotHeight / 40)
        // The axis depends on the values of the columns, and the number of columns depends on the width of the axis's
        // labels. The axis is therefore computed with an estimated number of columns.
        layout = ChartLayout(chart, columns: max(1, width - 60), intervals: intervals)
        let characters = max(layout.axis.labels.map(\.count).max() ?? 0, layout.axis.unit.count)
        left = characters * SVGPlot.characterWidth + 16
        plotWidth = width - left - 14
        guard plotWidth >= 80, plotHeight >= 40 else { return nil }
    }

    /// The position of the axis's unit: above the rows of spans if these have letters on their left.
    private var unitLine: Int {
        let isLettered = lanes.contains { $0.first?.series.flatMap(chart.letter) != nil }
        return top - 8 - (isLettered ? lanes.count * SVGPlot.laneHeight + 2 : 0)
    }

    /// A description for screen readers.
    var summary: String {
        let series = chart.series.indices.map { layout.legend($0).joined(separator: ", ") }
        return (series + marks.entries.map(\.text)).joined(separator: "; ")
    }

    func draw(_ writer: inout SVGWriter) {
        heading(&writer)
        grid(&writer)
        spans(&writer)
        if chart.hasBars {
            bars(&writer)
        } else if chart.isStacked {
            layers(&writer)
        } else {
            for index in chart.series.indices { curve(index, &writer) }
        }
        markLines(&writer)
        for index in 0..<legendCount { legendLine(index, &writer) }
        for (index, line) in markLines.enumerated() {
            let y = bottom + SVGPlot.timeHeight + (legendCount + index + 1) * SVGPlot.legendHeight - 4
            label("label", x: 8, y: y, line, &writer)
        }
        guard layout.isEmpty else { return }
        label("label middle", x: left + plotWidth / 2, y: top + plotHeight / 2, "no data", &writer)
    }

    /// Returns the y coordinate of a value in tenths of a pixel.
    func y(_ value: Double) -> Int {
        top * 10 + Int(((1 - axis.fraction(of: value)) * Double(plotHeight * 10)).rounded())
    }

    /// Returns the x coordinate of a pixel column in tenths of a pixel. Curves run through the middle of the column.
    func x(_ column: Int) -> Int { (left + column) * 10 + 5 }

    /// Returns the x coordinate of a time in tenths of a pixel, limited to the plot.
    func x(time: Double) -> Int {
        let share = min(max((time - chart.window.from) / chart.window.length, 0), 1)
        return left * 10 + Int((share * Double(plotWidth * 10)).rounded())
    }

    func label(_ style: StaticString, x: Int, y: Int, _ text: String, _ writer: inout SVGWriter) {
        writer.raw("<text class=\"")
        writer.raw(style)
        writer.raw("\" xml:space=\"preserve\" x=\"\(x)\" y=\"\(y)\">")
        writer.text(text)
        writer.raw("</text>\n")
    }

    private func heading(_ writer: inout SVGWriter) {
        label("label end", x: left - 8, y: unitLine, axis.unit, &writer)
        let caption = TimeAxis.caption(chart.window, zone: chart.zone)
        // A long title is truncated to leave room for the date. A narrow picture shows only the title.
        let whole = plotWidth / (SVGPlot.characterWidth + 1)
        let beside = (plotWidth - caption.count * SVGPlot.characterWidth) / (SVGPlot.characterWidth + 1)
        let hasCaption = beside >= min(SVGPlot.measure.width(chart.title), SVGPlot.leastTitle)
        label("title", x: left, y: 20, SVGPlot.cut(chart.title, hasCaption ? beside : whole), &writer)
        if hasCaption { label("label end", x: width - 14, y: 20, caption, &writer) }
    }

    private func grid(_ writer: inout SVGWriter) {
        for (tick, text) in zip(axis.ticks, axis.labels) {
            let y = y(tick)
            writer.raw("<path class=\"grid\" d=\"")
            writer.step("M", left * 10, y)
            writer.raw("h\(plotWidth)\"/>\n<text class=\"label end\" dy=\"4\" x=\"\(left - 8)\" y=\"")
            writer.tenths(y)
            writer.raw("\">\(text)</text>\n")
        }
        let characters = Double(plotWidth) / Double(SVGPlot.characterWidth)
        for tick in chart.timeTicks(length: characters) {
            let position = x(time: tick.time)
            if !tick.isInMiddle {
                writer.raw("<path class=\"grid\" d=\"")
                writer.step("M", position, top * 10)
                writer.raw("V\(bottom + 4)\"/>\n")
            }
            let half = tick.label.count * SVGPlot.characterWidth * 5
            writer.raw("<text class=\"label middle\" x=\"")
            writer.tenths(max(min(position, (width - 4) * 10 - half), half))
            writer.raw("\" y=\"\(bottom + 18)\">\(tick.label)</text>\n")
        }
        writer.raw("<path class=\"axis\" d=\"M\(left) \(top)V\(bottom)H\(left + plotWidth)\"/>\n")
    }

    private func legendLine(_ index: Int, _ writer: inout SVGWriter) {
        let y = bottom + SVGPlot.timeHeight + (index + 1) * SVGPlot.legendHeight - 4
        let hidden = chart.series.count - legendCount
        guard hidden == 0 || index < legendCount - 1 else {
            return label("label", x: 26, y: y, "and \(hidden + 1) more", &writer)
        }
        let parts = layout.legend(index)
        writer.raw("<rect class=\"s\(index % SVGStyle.colours)\" x=\"8\" y=\"\(y - 9)\" width=\"12\" height=\"10\"/>\n")
        writer.raw("<text class=\"label\" xml:space=\"preserve\" x=\"26\" y=\"\(y)\"><tspan class=\"name\">")
        writer.text(parts[0])
        writer.raw("</tspan>   ")
        writer.text(parts.dropFirst().joined(separator: "   "))
        writer.raw("</text>\n")
    }

    /// Measures text. Chinese, Japanese and Korean characters and emoji count two columns, about their width in a
    /// picture.
    private static var measure: TextMeasure {
        TextMeasure(
            columns: { character in
                switch character.unicodeScalars.first?.value ?? 0 {
                case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
                    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
                    2
                case _: 1
                }
            }, ellipsis: "…")
    }

    private static func cut(_ text: String, _ columns: Int) -> String {
        measure.width(text) <= columns ? text : measure.fit(text, columns)
    }

    /// Joins the texts into lines, as many per line as fit.
    private static func lines(_ texts: [String], characters: Int) -> [String] {
        texts.reduce(into: []) { lines, text in
            if let last = lines.last, last.count + text.count + 3 <= characters {
                lines[lines.count - 1] = last + "   " + text
            } else {
                lines.append(text)
            }
        }
    }
}
