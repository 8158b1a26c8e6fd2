extension Chart {
    /// The chart as lines of text. There are exactly `rows` lines, each exactly `columns` wide; where that is too small
    /// for a chart they say so.
    ///
    /// - Parameter characterWidth: How many columns the terminal shows a character in (of titles and names; the chart's
    ///   own characters all take one).
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

/// The layout of a chart in character cells: a title, the plot with the value axis at its left, the time axis, its
/// labels, and a legend line for each series as far as there is room.
struct TextPlot {
    private struct Cell {
        var character: Character = " "
        var role = ChartRole.text
    }

    private static let leastPlot = (columns: 12, rows: 2)
    /// Title, time axis and its labels.
    private static let frameRows = 3
    private static let letterSpacing = 14

    private let chart: Chart
    private let columns: Int
    private let glyphs: ChartGlyphs
    private let measure: TextMeasure
    private let axis: ValueAxis
    /// The width left of the plot, with the axis itself.
    private let gutter: Int
    private let plotColumns: Int
    private let plotRows: Int
    private let legendRows: Int

    /// Nil when the size is too small.
    init?(chart: Chart, columns: Int, rows: Int, glyphs: ChartGlyphs, measure: TextMeasure) {
        // The plot keeps three rows before the legend gets its first.
        legendRows = min(chart.series.count, max(0, rows - TextPlot.frameRows - 3))
        plotRows = rows - TextPlot.frameRows - legendRows
        axis = chart.valueAxis(intervals: (plotRows - 1) / 2)
        let unit = measure.width(axis.unit)
        gutter = max(axis.labels.map(\.count).max() ?? 0, unit) + 2
        plotColumns = columns - gutter
        guard plotRows >= TextPlot.leastPlot.rows, plotColumns >= TextPlot.leastPlot.columns else { return nil }
        self.chart = chart
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
        [titleLine()] + plotLines() + timeLines() + (0..<legendRows).map(legendLine)
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

    private func plotLines() -> [ChartLine] {
        var labels: [Int: String] = [:]
        for (tick, label) in zip(axis.ticks, axis.labels) {
            let dots = Double(plotRows * glyphs.dots.down - 1)
            labels[Int(((1 - axis.fraction(of: tick)) * dots).rounded()) / glyphs.dots.down] = label
        }
        return cells().enumerated().map { row, cells in
            var line = ChartLine()
            let label = labels[row]
            let padding = String(repeating: " ", count: gutter - 1 - (label ?? "").count - 1)
            line.append(padding + (label ?? "") + " ", .axis)
            line.append(String(label == nil ? glyphs.vertical : glyphs.valueTick), .axis)
            for cell in cells { line.append(String(cell.character), cell.role) }
            return line
        }
    }

    private func cells() -> [[Cell]] {
        var cells = Array(repeating: Array(repeating: Cell(), count: plotColumns), count: plotRows)
        let dots = glyphs.dots
        let rasters = chart.series.map { series in
            var raster = Raster(width: plotColumns * dots.across, height: plotRows * dots.down)
            raster.draw(Envelope(of: series, in: chart.window, columns: raster.width), on: axis)
            return raster
        }
        for row in 0..<plotRows {
            for column in 0..<plotColumns { cells[row][column] = cell(rasters, column, row) }
        }
        if glyphs == .braille, chart.series.count > 1 { inscribeLetters(on: &cells) }
        let isEmpty = chart.series.allSatisfy { $0.points(in: chart.window).isEmpty }
        if isEmpty, cells.joined().allSatisfy({ $0.character == " " }) { inscribe("no data", on: &cells) }
        return cells
    }

    private func cell(_ rasters: [Raster], _ column: Int, _ row: Int) -> Cell {
        switch glyphs {
        case .braille:
            var bits: UInt8 = 0
            var role = ChartRole.text
            for (index, raster) in rasters.enumerated() {
                let own = raster.braille(column: column, row: row)
                if own != 0 { role = .series(index) }
                bits |= own
            }
            guard bits != 0, let scalar = Unicode.Scalar(0x2800 + UInt32(bits)) else { return Cell() }
            return Cell(character: Character(scalar), role: role)
        case .plain:
            let here = rasters.indices.filter { rasters[$0][column, row] }
            guard let first = here.first else { return Cell() }
            // Where curves meet neither letter would be true.
            if here.count > 1 { return Cell(character: "#", role: .text) }
            return Cell(character: chart.letter(first) ?? "*", role: .series(first))
        }
    }

    /// Curves of dots are told apart by their letters, in place of a few of their cells, once at least where they end.
    private func inscribeLetters(on cells: inout [[Cell]]) {
        for index in chart.series.indices {
            guard let letter = chart.letter(index) else { continue }
            var last: (row: Int, column: Int)?
            var isMarked = false
            for column in 0..<plotColumns {
                guard let row = (0..<plotRows).first(where: { cells[$0][column].role == .series(index) }) else {
                    continue
                }
                last = (row, column)
                if chart.bearsLetter(index, column: column, spacing: TextPlot.letterSpacing) {
                    cells[row][column].character = letter
                    isMarked = true
                }
            }
            if let last, !isMarked { cells[last.row][last.column].character = letter }
        }
    }

    private func inscribe(_ words: String, on cells: inout [[Cell]]) {
        let start = (plotColumns - words.count) / 2
        for (offset, character) in words.enumerated() { cells[plotRows / 2][start + offset].character = character }
    }

    private func timeLines() -> [ChartLine] {
        var marks = Array(repeating: glyphs.horizontal, count: plotColumns)
        var labels = Array(repeating: Character(" "), count: columns)
        var free = 0
        let ticks = TimeAxis(window: chart.window, zone: chart.zone, length: Double(plotColumns)).ticks
        for tick in ticks {
            let position = (tick.time - chart.window.from) / chart.window.length * Double(plotColumns)
            let column = min(Int(position), plotColumns - 1)
            marks[column] = glyphs.timeTick
            let start = min(max(gutter + column - tick.label.count / 2, 0), columns - tick.label.count)
            // A label at the edge is pushed inwards and may then meet its neighbour.
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

    private func legendLine(_ index: Int) -> ChartLine {
        let parts = chart.legend(index)
        var line = ChartLine()
        let hidden = chart.series.count - legendRows
        if index == legendRows - 1, hidden > 0 {
            line.append(measure.fit("and \(hidden + 1) more", columns), .text)
            return line
        }
        // The name gives way first, down to ten columns; then the figures, the least important first.
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
}
