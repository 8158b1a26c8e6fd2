extension SVGPlot {
    /// The maximum number of marks with dashed lines. With more marks no line is drawn, because the lines would hide
    /// the curve. The signs are always drawn.
    private static let dashedLimit = 60

    /// Draws each span as a strip above the plot, with its label if it fits, and as a faint area behind the curve.
    func spans(_ writer: inout SVGWriter) {
        for (row, lane) in lanes.enumerated() {
            let y = top - (lanes.count - row) * SVGPlot.laneHeight
            let series = lane.first?.series
            let colour = series.map { " s\($0 % SVGStyle.colours)" } ?? ""
            if let series, let letter = chart.letter(series) {
                // The letter is above the axis's highest label, whose middle is at the upper edge of the plot.
                label("label end small", x: left - 8, y: y + 9, String(letter), &writer)
            }
            for span in lane {
                let (from, to) = (x(time: span.from), x(time: span.to))
                // One pixel is left free, to separate a span from the next.
                let width = max(to - from - 10, 10)
                writer.raw("<g><title>")
                writer.text(span.label)
                writer.raw("</title>")
                let height = (SVGPlot.laneHeight - 4) * 10
                rectangle("lane" + colour, x: from, y: (y + 1) * 10, width: width, height: height, &writer)
                if row == 0, chart.series.count == 1 {
                    rectangle("span" + colour, x: from, y: top * 10, width: width, height: plotHeight * 10, &writer)
                }
                if let text = span.words(within: (width / 10 - 4) / SVGPlot.characterWidth) {
                    writer.raw("<text class=\"sign middle small\" x=\"")
                    writer.tenths(from + width / 2)
                    writer.raw("\" y=\"\(y + 11)\">")
                    writer.text(text)
                    writer.raw("</text>")
                }
                writer.raw("</g>\n")
            }
        }
    }

    private func rectangle(
        _ style: String, x: Int, y: Int, width: Int, height: Int, _ writer: inout SVGWriter
    ) {
        writer.raw("<rect class=\"")
        writer.raw(style)
        writer.raw("\" x=\"")
        writer.tenths(x)
        writer.raw("\" y=\"")
        writer.tenths(y)
        writer.raw("\" width=\"")
        writer.tenths(width)
        writer.raw("\" height=\"")
        writer.tenths(height)
        writer.raw("\"/>")
    }

    /// Draws the signs of marks in a row above the plot, each with a dashed line down if there are at most
    /// `dashedLimit` marks. Signs that would overlap are combined: to the same sign, or to `+` if they differ.
    func markLines(_ writer: inout SVGWriter) {
        guard !marks.marks.isEmpty else { return }
        var groups: [(x: Int, sign: Character)] = []
        for mark in marks.marks {
            let x = x(time: mark.time)
            if let last = groups.last, x - last.x < (SVGPlot.characterWidth + 1) * 10 {
                if last.sign != mark.sign { groups[groups.count - 1].sign = "+" }
            } else {
                groups.append((x, mark.sign))
            }
        }
        if marks.marks.count <= SVGPlot.dashedLimit {
            writer.raw("<path class=\"mark\" d=\"")
            for mark in marks.marks {
                writer.step("M", x(time: mark.time), top * 10)
                writer.raw("V\(bottom)")
            }
            writer.raw("\"/>\n")
        }
        let y = top - lanes.count * SVGPlot.laneHeight - 5
        for group in groups {
            writer.raw("<text class=\"sign middle\" x=\"")
            writer.tenths(group.x)
            writer.raw("\" y=\"\(y)\">\(group.sign)</text>\n")
        }
    }
}
