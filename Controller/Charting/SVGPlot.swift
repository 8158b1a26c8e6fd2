/// The layout of a chart in pixels: title, signs of marks, lanes of spans, the plot with the value axis at its left, time
/// labels, legend.
struct SVGPlot {
    static let characterWidth = 7
    static let laneHeight = 16
    private static let titleHeight = 38
    private static let markHeight = 18
    private static let timeHeight = 26
    private static let legendHeight = 18
    /// Columns of a title that stay if it is cut.
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
    /// Lines of the legend: one for each series, or where these would leave the plot less than half of the height, fewer.
    private let legendCount: Int

    var bottom: Int { top + plotHeight }
    private var axis: ValueAxis { layout.axis }

    /// Nil when the size is too small.
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
        // What stands in a column decides the axis, whose labels decide how many columns there are.
        layout = ChartLayout(chart, columns: max(1, width - 60), intervals: intervals)
        let characters = max(layout.axis.labels.map(\.count).max() ?? 0, layout.axis.unit.count)
        left = characters * SVGPlot.characterWidth + 16
        plotWidth = width - left - 14
        guard plotWidth >= 80, plotHeight >= 40 else { return nil }
    }

    /// Where the axis' unit stands: above the lanes where these have letters beside them.
    private var unitLine: Int {
        let isLettered = lanes.contains { $0.first?.series.flatMap(chart.letter) != nil }
        return top - 8 - (isLettered ? lanes.count * SVGPlot.laneHeight + 2 : 0)
    }

    /// For whoever cannot see the picture.
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

    /// Tenths of a pixel.
    func y(_ value: Double) -> Int {
        top * 10 + Int(((1 - axis.fraction(of: value)) * Double(plotHeight * 10)).rounded())
    }

    /// Tenths of a pixel. Curves run through the middles of the pixel columns.
    func x(_ column: Int) -> Int { (left + column) * 10 + 5 }

    /// Tenths of a pixel, inside the plot.
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
        // A title that is long is cut, so that it leaves room for the date; a narrow picture has only the title.
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

    /// Characters of Chinese, Japanese and Korean and pictures take about two columns in a picture, too.
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

    /// As many of the texts in a line as there is room for.
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
