/// The character cells of a plot.
struct TextCells {
    struct Cell {
        var character: Character = " "
        var role = ChartRole.text
    }

    private static let letterSpacing = 14

    let chart: Chart
    let axis: ValueAxis
    let glyphs: ChartGlyphs
    let columns: Int
    let rows: Int
    private(set) var cells: [[Cell]]

    init(_ layout: ChartLayout, glyphs: ChartGlyphs, columns: Int, rows: Int) {
        chart = layout.chart
        axis = layout.axis
        self.glyphs = glyphs
        self.columns = columns
        self.rows = rows
        cells = Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
        if chart.hasBars {
            drawBars()
        } else {
            drawCurves()
        }
        if layout.isEmpty { inscribe("no data") }
    }

    private mutating func inscribe(_ words: String) {
        let start = (columns - words.count) / 2
        for (offset, character) in words.enumerated() { cells[rows / 2][start + offset].character = character }
    }

    // MARK: Lines

    private mutating func drawCurves() {
        let rasters = rasters()
        for row in 0..<rows {
            for column in 0..<columns {
                cells[row][column] =
                    glyphs == .braille ? brailleCell(rasters, column, row) : plainCell(rasters, column, row)
            }
        }
        if glyphs == .braille, chart.series.count > 1 { inscribeLetters() }
    }

    /// One raster per series. The last raster of a stack also has the peaks.
    private func rasters() -> [Raster] {
        let empty = Raster(width: columns * glyphs.dots.across, height: rows * glyphs.dots.down)
        guard chart.isStacked else {
            return chart.series.map { series in
                var raster = empty
                raster.draw(Envelope(of: series, in: chart.window, columns: raster.width), on: axis)
                return raster
            }
        }
        let layers = Layers(chart, columns: empty.width)
        var rasters = layers.slices.map { slices in
            var raster = empty
            raster.draw(slices, on: axis)
            return raster
        }
        // A peak belongs to no layer, so it is drawn with the uppermost one.
        rasters[rasters.count - 1].draw(peaks: layers.peaks, on: axis)
        return rasters
    }

    private func brailleCell(_ rasters: [Raster], _ column: Int, _ row: Int) -> Cell {
        var bits: UInt8 = 0
        var role = ChartRole.text
        for (index, raster) in rasters.enumerated() {
            // Every second layer of a stack is filled, so that neighbours differ and letters are readable.
            let isFilled = !chart.isStacked || index % 2 == 0
            let own = raster.braille(column: column, row: row) { x, y in
                isFilled && (chart.isStacked ? x % 2 == 0 && y % 2 == 0 : (x + y) % 2 == 0)
            }
            if own != 0 { role = .series(index) }
            bits |= own
        }
        guard bits != 0, let scalar = Unicode.Scalar(0x2800 + UInt32(bits)) else { return Cell() }
        return Cell(character: Character(scalar), role: role)
    }

    private func plainCell(_ rasters: [Raster], _ column: Int, _ row: Int) -> Cell {
        let filled = rasters.indices.filter { rasters[$0].hasBand(column, row) }
        if chart.isStacked {
            // If two layers share a cell, the upper one begins there and is shown.
            guard let upper = filled.last else { return Cell() }
            return Cell(character: chart.letter(upper) ?? "*", role: .series(upper))
        }
        let lines = rasters.indices.filter { rasters[$0].hasLine(column, row) }
        // Curves that meet get a neutral sign instead of a letter.
        if lines.count > 1 { return Cell(character: "#", role: .text) }
        if let line = lines.first { return Cell(character: chart.letter(line) ?? "*", role: .series(line)) }
        guard let band = filled.first else { return Cell() }
        guard filled.count == 1 else { return Cell(character: ":", role: .text) }
        return Cell(character: chart.letter(band).map { Character($0.lowercased()) } ?? ":", role: .series(band))
    }

    /// Replaces some cells of each curve by its letter, at least one, so that curves are distinguishable without
    /// colour.
    private mutating func inscribeLetters() {
        for index in chart.series.indices {
            guard let letter = chart.letter(index) else { continue }
            var last: (row: Int, column: Int)?
            var isMarked = false
            for column in 0..<columns {
                guard let row = (0..<rows).first(where: { cells[$0][column].role == .series(index) }) else {
                    continue
                }
                last = (row, column)
                if chart.bearsLetter(index, column: column, spacing: TextCells.letterSpacing) {
                    cells[row][column].character = letter
                    isMarked = true
                }
            }
            if let last, !isMarked { cells[last.row][last.column].character = letter }
        }
    }

    // MARK: Bars

    /// Draws the bars, in eighths of a row if the terminal can show the block characters.
    private mutating func drawBars() {
        let eighths = glyphs == .braille ? 8 : 1
        func height(_ value: Double) -> Int { Int((axis.fraction(of: value) * Double(rows * eighths)).rounded()) }
        for stack in BarStack(chart).stacks {
            let (first, end) = place(of: stack)
            for piece in stack.pieces {
                // A piece that starts at the axis is always visible, even if its height rounds to zero.
                let bottom = height(piece.bottom)
                let top = piece.top > piece.bottom ? max(height(piece.top), bottom + (bottom == 0 ? 1 : 0)) : bottom
                fill(piece, first..<end, from: bottom, to: top, known: height(piece.known), eighths: eighths)
            }
        }
    }

    private func place(of stack: BarStack.Stack) -> (first: Int, end: Int) {
        let scale = Double(columns) / chart.window.length
        let first = min(max(Int(((stack.from - chart.window.from) * scale).rounded()), 0), columns - 1)
        let end = min(max(Int(((stack.to - chart.window.from) * scale).rounded()), first + 1), columns)
        // Wide bars leave a gap to the next bar.
        return (first, end - first >= 3 ? end - 1 : end)
    }

    private mutating func fill(
        _ piece: BarStack.Piece, _ places: Range<Int>, from bottom: Int, to top: Int, known: Int, eighths: Int
    ) {
        let letter = chart.letter(piece.series)
        let middle = (bottom + top) / 2 / eighths
        for row in 0..<rows {
            let (low, high) = (row * eighths, (row + 1) * eighths)
            guard top > low, bottom < high else { continue }
            // A cell that two pieces share belongs to the piece that fills the larger part.
            let share = min(top, high) - max(bottom, low)
            if bottom > low, share * 2 < eighths { continue }
            let isEstimated = known < high && known <= (low + min(top, high)) / 2
            var character = isEstimated ? glyphs.light : glyphs.full
            if glyphs == .plain, let letter {
                character = isEstimated ? Character(letter.lowercased()) : letter
            } else if top < high, bottom <= low, !isEstimated {
                character = glyphs.ramp[min(max(top - low, 1), glyphs.ramp.count) - 1]
            }
            let line = rows - 1 - row
            for column in places { cells[line][column] = Cell(character: character, role: .series(piece.series)) }
            if glyphs == .braille, row == middle, share == eighths, let letter {
                cells[line][(places.lowerBound + places.upperBound - 1) / 2].character = letter
            }
        }
    }
}
