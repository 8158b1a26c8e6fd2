extension SVGPlot {
    private static let letterSpacing = 140

    /// Draws a line that is interrupted at each gap. A band behind it covers the lowest to the highest value in each
    /// pixel column.
    func curve(_ index: Int, _ writer: inout SVGWriter) {
        let columns = Envelope(of: chart.series[index], in: chart.window, columns: plotWidth).columns
        guard !columns.isEmpty else { return }
        let colour = index % SVGStyle.colours
        band(columns, colour: colour, &writer)
        writer.raw("<path class=\"curve c\(colour)\" d=\"")
        var previous = 0
        for (position, column) in columns.enumerated() {
            let entry = y(column.entry)
            if column.isJoined {
                // Only the last point of a level stretch is written.
                let next = position + 1 < columns.count ? columns[position + 1] : nil
                let isLevel = entry == previous && y(column.exit) == entry
                if isLevel, let next, next.isJoined, y(next.entry) == entry { continue }
                if isLevel { writer.step("H", x(column.index)) } else { writer.step("L", x(column.index), entry) }
            } else {
                writer.step("M", x(column.index), entry)
                // A single point: the round cap of a line without length draws a dot.
                writer.raw("h0")
            }
            previous = y(column.exit)
            if previous != entry { writer.step("V", previous) }
        }
        writer.raw("\"/>\n")
        guard let sign = chart.letter(index) else { return }
        for column in columns where chart.bearsLetter(index, column: column.index, spacing: SVGPlot.letterSpacing) {
            letter(sign, colour: colour, x: x(column.index), y: y(column.exit), &writer)
        }
    }

    private func band(_ columns: [Envelope.Column], colour: Int, _ writer: inout SVGWriter) {
        var isOpen = false
        var run: [Envelope.Column] = []
        func close() {
            guard let first = run.first else { return }
            if !isOpen { writer.raw("<path class=\"band s\(colour) c\(colour)\" d=\"") }
            isOpen = true
            writer.step("M", x(first.index), y(first.greatest))
            for column in run.dropFirst() { writer.step("L", x(column.index), y(column.greatest)) }
            for column in run.reversed() { writer.step("L", x(column.index), y(column.least)) }
            writer.raw("Z")
            run.removeAll(keepingCapacity: true)
        }
        for column in columns {
            let isWide = !column.isExact && y(column.least) - y(column.greatest) > 10
            if !isWide || !column.isJoined { close() }
            if isWide { run.append(column) }
        }
        close()
        if isOpen { writer.raw("\"/>\n") }
    }

    private func letter(_ sign: Character, colour: Int, x: Int, y: Int, _ writer: inout SVGWriter) {
        writer.raw("<text class=\"letter s\(colour)\" x=\"")
        writer.tenths(x)
        writer.raw("\" y=\"")
        writer.tenths(y)
        writer.raw("\">\(sign)</text>\n")
    }

    /// Draws stacked areas, and above them in each column the largest rise of a single series over its mean.
    func layers(_ writer: inout SVGWriter) {
        let layers = Layers(chart, columns: plotWidth)
        writer.raw("<path class=\"peak s0 c0\" d=\"")
        area(&writer) { index in
            guard let peak = layers.peaks[index], let sum = layers.height(index), y(sum) - y(peak) > 10 else {
                return nil
            }
            return Layers.Slice(bottom: sum, top: peak)
        }
        writer.raw("\"/>\n")
        for index in chart.series.indices {
            let colour = index % SVGStyle.colours
            writer.raw("<path class=\"area s\(colour)\" d=\"")
            area(&writer) { layers.slices[index][$0] }
            writer.raw("\"/>\n<path class=\"curve c\(colour)\" d=\"")
            var isJoined = false
            for (column, slice) in layers.slices[index].enumerated() {
                if let slice { writer.step(isJoined ? "L" : "M", x(column), y(slice.top)) }
                isJoined = slice != nil
            }
            writer.raw("\"/>\n")
        }
        for index in chart.series.indices {
            guard let sign = chart.letter(index) else { continue }
            for (column, slice) in layers.slices[index].enumerated() {
                guard let slice, chart.bearsLetter(index, column: column, spacing: SVGPlot.letterSpacing) else {
                    continue
                }
                // The letter is inside the layer if the layer is high enough.
                let isHigh = abs(y(slice.bottom) - y(slice.top)) > 180
                let place = isHigh ? (y(slice.bottom) + y(slice.top)) / 2 + 40 : y(slice.top)
                letter(sign, colour: index % SVGStyle.colours, x: x(column), y: place, &writer)
            }
        }
    }

    private func area(_ writer: inout SVGWriter, _ slice: (Int) -> Layers.Slice?) {
        var run: [(column: Int, slice: Layers.Slice)] = []
        for column in 0...plotWidth {
            if column < plotWidth, let slice = slice(column) {
                run.append((column, slice))
                continue
            }
            guard let first = run.first else { continue }
            writer.step("M", x(first.column), y(first.slice.top))
            for (column, slice) in run.dropFirst() { writer.step("L", x(column), y(slice.top)) }
            for (column, slice) in run.reversed() { writer.step("L", x(column), y(slice.bottom)) }
            writer.raw("Z")
            run.removeAll(keepingCapacity: true)
        }
    }

    func bars(_ writer: inout SVGWriter) {
        for stack in BarStack(chart).stacks {
            let (from, to) = (x(time: stack.from), x(time: stack.to))
            // Leaves a gap between neighbouring bars if there is room.
            let air = min(max((to - from) / 10, 0), 40)
            let width = max(to - from - 2 * air, 5)
            for piece in stack.pieces {
                rectangle(piece, "bar", from: piece.bottom, to: piece.known, x: from + air, width: width, &writer)
                rectangle(piece, "bar guess", from: piece.known, to: piece.top, x: from + air, width: width, &writer)
                let height = y(piece.bottom) - y(piece.top)
                guard let sign = chart.letter(piece.series), height > 160, width > 100 else { continue }
                let place = (y(piece.bottom) + y(piece.top)) / 2 + 40
                letter(
                    sign, colour: piece.series % SVGStyle.colours, x: from + air + width / 2, y: place, &writer)
            }
        }
    }

    private func rectangle(
        _ piece: BarStack.Piece, _ style: StaticString, from: Double, to: Double, x: Int, width: Int,
        _ writer: inout SVGWriter
    ) {
        let (low, high) = (y(from), y(to))
        guard low > high else { return }
        writer.raw("<rect class=\"")
        writer.raw(style)
        writer.raw(" s\(piece.series % SVGStyle.colours)\" x=\"")
        writer.tenths(x)
        writer.raw("\" y=\"")
        writer.tenths(high)
        writer.raw("\" width=\"")
        writer.tenths(width)
        writer.raw("\" height=\"")
        writer.tenths(low - high)
        writer.raw("\"/>\n")
    }
}
