extension Chart {
    /// Returns the chart as exactly `rows` lines, each exactly `columns` wide. If the size is too small, the lines
    /// contain a message instead.
    ///
    /// - Parameters:
    ///   - columns: The width in terminal columns.
    ///   - rows: The number of lines.
    ///   - glyphs: The characters that the terminal can show.
    ///   - characterWidth: Returns the width of a character in titles and names, in columns. The chart's own characters
    ///     are one column wide.
    public func text(
        columns: Int, rows: Int, glyphs: ChartGlyphs = .braille,
        characterWidth: @escaping (Character) -> Int = { _ in 1 }
    ) -> [ChartLine] {
        let measure = TextMeasure(columns: characterWidth, ellipsis: glyphs.ellipsis)
        guard columns > 0, rows > 0 else { return Array(repeating: ChartLine(), count: max(0, rows)) }
        let plot = TextPlot(chart: self, columns: columns, rows: rows, glyphs: glyphs, measure: measure)
        return plot?.lines() ?? TextPlot.tooSmall(columns: columns, rows: rows, measure: measure)
    }
}

/// The layout of a chart in character cells: title, signs of marks, rows of spans, the plot with the value axis on its
/// left, the time axis, its labels, and, if there is room, legend lines for series and marks.
struct TextPlot {
    private static let leastPlot = (columns: 12, rows: 2)
    /// The rows of the title, the time axis and its labels.
    private static let frameRows = 3

    private let layout: ChartLayout
    private let columns: Int
    private let glyphs: ChartGlyphs
    private let measure: TextMeasure
    /// The width to the left of the plot, including the axis.
    private let gutter: Int
    private let plotColumns: Int
    private let plotRows: Int
    private let legendRows: Int
    private let marks: MarkTable
    private let lanes: [[ChartSpan]]
    private let markLines: [String]

    private var chart: Chart { layout.chart }
    private var axis: ValueAxis { layout.axis }

    /// Computes the layout; nil if the size is too small.
    init?(chart: Chart, columns: Int, rows: Int, glyphs: ChartGlyphs, measure: TextMeasure) {
        // Rows are assigned in this order: three rows to the plot, at most half of the rows to the legend, then rows to
        // marks and their labels, then to spans. The plot gets the remaining rows.
        var free = max(0, rows - TextPlot.frameRows - 3)
        legendRows = min(chart.series.count, free, max(1, (rows - TextPlot.frameRows) / 2))
        free -= legendRows
        let table = MarkTable(chart.marks, in: chart.window)
        let words = TextPlot.lines(
            table.entries.map { measure.printed(glyphs == .braille ? $0.text : $0.plainText, glyphs) }, columns, measure
        )
        markLines = Array(words.prefix(max(0, free - 1)))
        marks = markLines.isEmpty ? MarkTable([], in: chart.window) : table
        free -= markLines.isEmpty ? 0 : markLines.count + 1
        lanes = Array(SpanLanes(chart.spans, in: chart.window).lanes.prefix(free))
        plotRows =
            rows - TextPlot.frameRows - legendRows - markLines.count - (markLines.isEmpty ? 0 : 1) - lanes.count
        layout = ChartLayout(
            chart, columns: max(1, (columns - 6) * glyphs.dots.across), intervals: max(1, (plotRows - 1) / 2))
        let unit = measure.width(layout.axis.unit)
        gutter = max(layout.axis.labels.map(\.count).max() ?? 0, unit) + 2
        plotColumns = columns - gutter
        guard plotRows >= TextPlot.leastPlot.rows, plotColumns >= TextPlot.leastPlot.columns else { return nil }
        self.columns = columns
        self.glyphs = glyphs
        self.measure = measure
    }

    static func tooSmall(columns: Int, rows: Int, measure: TextMeasure) -> [ChartLine] {
        (0..<rows).map { row in
            var line = ChartLine()
            line.append(measure.fit(row == rows / 2 ? "too small for a chart" : "", columns), .text)
            return line
        }
    }

    func lines() -> [ChartLine] {
        [titleLine()] + markLine() + lanes.map(laneLine) + plotLines() + timeLines()
            + (0..<legendRows).map(legendLine)
            + markLines.map { words in
                var line = ChartLine()
                line.append(measure.fit(words, columns), .text)
                return line
            }
    }

    private func titleLine() -> ChartLine {
        let unit = String(repeating: " ", count: max(0, gutter - 2 - measure.width(axis.unit))) + axis.unit + "  "
        let room = columns - measure.width(unit)
        let caption = TimeAxis.caption(chart.window, zone: chart.zone)
        let left = room - caption.count - 2
        var line = ChartLine()
        line.append(unit, .axis)
        if left >= min(measure.width(chart.title), 8) {
            line.append(measure.fit(chart.title, left) + "  ", .text)
            line.append(caption, .axis)
        } else {
            line.append(measure.fit(chart.title.isEmpty ? caption : chart.title, room), .text)
        }
        return line
    }

    // MARK: Above the plot

    private func column(of time: Double) -> Int {
        let share = min(max((time - chart.window.from) / chart.window.length, 0), 1)
        return min(Int(share * Double(plotColumns)), plotColumns - 1)
    }

    private func markLine() -> [ChartLine] {
        guard !markLines.isEmpty else { return [] }
        var signs = Array(repeating: Character(" "), count: plotColumns)
        for mark in marks.marks {
            let column = column(of: mark.time)
            signs[column] = signs[column] == " " || signs[column] == mark.sign ? mark.sign : "+"
        }
        return [line(above: String(signs), .text)]
    }

    private func laneLine(_ spans: [ChartSpan]) -> ChartLine {
        var cells = Array(repeating: Character(" "), count: plotColumns)
        for span in spans {
            let (first, last) = (column(of: span.from), column(of: span.to))
            for column in first...last { cells[column] = last - first < 2 ? glyphs.shortSpan : glyphs.span.middle }
            guard last - first >= 2 else { continue }
            (cells[first], cells[last]) = (glyphs.span.start, glyphs.span.end)
            guard let label = span.words(within: last - first - 1) else { continue }
            let words = measure.printed(label, glyphs)
            // A label that is wider in columns than in characters would shift the rest of the line.
            guard last - first - 1 >= words.count, measure.width(words) == words.count else { continue }
            let begin = first + 1 + (last - first - 1 - words.count) / 2
            for (offset, character) in words.enumerated() { cells[begin + offset] = character }
        }
        // The row of a series shows the series' letter on the left of the plot.
        let series = spans.first?.series
        let letter = series.flatMap { chart.letter($0) }.map { "\($0) " } ?? ""
        var line = ChartLine()
        line.append(measure.fit("", gutter - letter.count) + letter, .axis)
        line.append(String(cells), series.map { .series($0) } ?? .axis)
        return line
    }

    private func line(above text: String, _ role: ChartRole) -> ChartLine {
        var line = ChartLine()
        line.append(String(repeating: " ", count: gutter), .axis)
        line.append(text, role)
        return line
    }

    // MARK: The plot and its axes

    private func plotLines() -> [ChartLine] {
        var labels: [Int: String] = [:]
        for (tick, label) in zip(axis.ticks, axis.labels) { labels[row(of: tick)] = label }
        let cells = TextCells(layout, glyphs: glyphs, columns: plotColumns, rows: plotRows).cells
        return cells.enumerated().map { row, cells in
            var line = ChartLine()
            let label = labels[row]
            let padding = String(repeating: " ", count: gutter - 1 - (label ?? "").count - 1)
            line.append(padding + (label ?? "") + " ", .axis)
            line.append(String(label == nil ? glyphs.vertical : glyphs.valueTick), .axis)
            for cell in cells { line.append(String(cell.character), cell.role) }
            return line
        }
    }

    /// Returns the row of a tick. A line of dots runs through the middle of its row; bars start at the lower edge of
    /// their row.
    private func row(of tick: Double) -> Int {
        if chart.hasBars {
            let rows = (axis.fraction(of: tick) * Double(plotRows)).rounded()
            return min(plotRows - Int(rows), plotRows - 1)
        }
        let dots = Double(plotRows * glyphs.dots.down - 1)
        return Int(((1 - axis.fraction(of: tick)) * dots).rounded()) / glyphs.dots.down
    }

    private func timeLines() -> [ChartLine] {
        var marks = Array(repeating: glyphs.horizontal, count: plotColumns)
        var labels = Array(repeating: Character(" "), count: columns)
        var free = 0
        for tick in chart.timeTicks(length: Double(plotColumns)) {
            let column = column(of: tick.time)
            let start = min(max(gutter + column - tick.label.count / 2, 0), columns - tick.label.count)
            marks[column] = glyphs.timeTick
            // A label at the edge is moved inwards and may then overlap its neighbour.
            guard start >= free else { continue }
            for (offset, character) in tick.label.enumerated() { labels[start + offset] = character }
            free = start + tick.label.count + 1
        }
        var axisLine = ChartLine()
        axisLine.append(String(repeating: " ", count: gutter - 1) + String(glyphs.corner) + String(marks), .axis)
        var labelLine = ChartLine()
        labelLine.append(String(labels), .axis)
        return [axisLine, labelLine]
    }

    // MARK: The legend

    private func legendLine(_ index: Int) -> ChartLine {
        let parts = layout.legend(index)
        var line = ChartLine()
        let hidden = chart.series.count - legendRows
        if index == legendRows - 1, hidden > 0 {
            line.append(measure.fit("and \(hidden + 1) more", columns), .text)
            return line
        }
        // If the room is short, the name is truncated to ten columns first. Then figures are dropped, the least
        // important first.
        var figures = parts.dropFirst().map { "  " + $0 }
        let least = min(measure.width(parts[0]), 10)
        while figures.count > 1, figures.reduce(least, { $0 + measure.width($1) }) > columns { figures.removeLast() }
        let tail = figures.joined()
        let room = columns - measure.width(tail)
        let name = measure.width(parts[0]) <= room ? parts[0] : measure.fit(parts[0], room)
        line.append(name, .series(index))
        line.append(measure.fit(tail, columns - measure.width(name)), .text)
        return line
    }

    /// Joins the texts into at most two lines. The first line gets as many texts as fit.
    private static func lines(_ texts: [String], _ columns: Int, _ measure: TextMeasure) -> [String] {
        let lines: [String] = texts.reduce(into: []) { lines, text in
            if let last = lines.last, measure.width(last) + measure.width(text) + 2 <= columns {
                lines[lines.count - 1] = last + "  " + text
            } else {
                lines.append(text)
            }
        }
        guard lines.count > 2 else { return lines }
        return [lines[0], lines[1...].joined(separator: "  ")]
    }
}
