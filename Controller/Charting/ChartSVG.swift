/// The colours of a picture.
public enum ChartTheme: Hashable, Sendable {
    case light
    case dark
    /// Follows the viewer's preference; a viewer that has none shows it light.
    case automatic
}

extension Chart {
    /// The chart as an SVG document of the given size in pixels, with the same axes, envelope and figures as the text.
    /// Where the size is too small for a chart the picture says so.
    public func svg(width: Int, height: Int, theme: ChartTheme = .automatic) -> String {
        let width = max(1, width)
        let height = max(1, height)
        let body = SVGPlot(chart: self, width: width, height: height)?.body() ?? SVGPlot.tooSmall(height: height)
        let summary = series.indices.map { legend($0).joined(separator: ", ") }.joined(separator: "; ")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img">
            <title>\(escaped(title.isEmpty ? "Chart" : title))</title>
            <desc>\(escaped(summary))</desc>
            <style>
            \(SVGStyle.sheet(theme))
            </style>
            <rect class="paper" width="\(width)" height="\(height)"/>
            \(body)</svg>

            """
    }
}

/// Text that an XML parser reads as text.
private func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        default: result.append(character)
        }
    }
    return result
}

/// The layout of a chart in pixels: title, plot with the value axis at its left, time labels, legend.
private struct SVGPlot {
    private static let characterWidth = 7
    private static let titleHeight = 30
    private static let timeHeight = 24
    private static let legendHeight = 18
    private static let letterSpacing = 140

    private let chart: Chart
    private let axis: ValueAxis
    private let left: Int
    private let top = titleHeight
    private let plotWidth: Int
    private let plotHeight: Int
    private let width: Int
    private let height: Int

    /// Nil when the size is too small.
    init?(chart: Chart, width: Int, height: Int) {
        self.chart = chart
        self.width = width
        self.height = height
        plotHeight = height - SVGPlot.titleHeight - SVGPlot.timeHeight - chart.series.count * SVGPlot.legendHeight - 6
        axis = chart.valueAxis(intervals: max(1, plotHeight / 40))
        let characters = max(axis.labels.map(\.count).max() ?? 0, axis.unit.count)
        left = characters * SVGPlot.characterWidth + 16
        plotWidth = width - left - 12
        guard plotWidth >= 80, plotHeight >= 40 else { return nil }
    }

    static func tooSmall(height: Int) -> String {
        "<text class=\"label\" x=\"2\" y=\"\(height / 2 + 4)\">too small for a chart</text>\n"
    }

    func body() -> String {
        var text = heading() + grid()
        for index in chart.series.indices { text += curve(index) }
        for index in chart.series.indices { text += legendLine(index) }
        if chart.series.allSatisfy({ Envelope(of: $0, in: chart.window, columns: 1).range == nil }) {
            let x = left + plotWidth / 2
            text +=
                "<text class=\"label\" text-anchor=\"middle\" x=\"\(x)\" y=\"\(top + plotHeight / 2)\">no data</text>\n"
        }
        return text
    }

    private func y(_ value: Double) -> String {
        fixed(Double(top) + (1 - axis.fraction(of: value)) * Double(plotHeight), decimals: 1)
    }

    /// Curves run through the middles of the pixel columns.
    private func x(_ column: Int) -> String { "\(left + column).5" }

    private func heading() -> String {
        let caption = TimeAxis.caption(chart.window, zone: chart.zone)
        return """
            <text class="label" text-anchor="end" x="\(left - 8)" y="18">\(escaped(axis.unit))</text>
            <text class="title" x="\(left)" y="18">\(escaped(chart.title))</text>
            <text class="label" text-anchor="end" x="\(width - 12)" y="18">\(escaped(caption))</text>

            """
    }

    private func grid() -> String {
        var text = ""
        for (tick, label) in zip(axis.ticks, axis.labels) {
            let y = y(tick)
            text += "<path class=\"grid\" d=\"M\(left) \(y)h\(plotWidth)\"/>\n"
            text += "<text class=\"label\" text-anchor=\"end\" dy=\"4\" x=\"\(left - 8)\" y=\"\(y)\">\(label)</text>\n"
        }
        let characters = Double(plotWidth) / Double(SVGPlot.characterWidth)
        let bottom = top + plotHeight
        for tick in TimeAxis(window: chart.window, zone: chart.zone, length: characters).ticks {
            let share = (tick.time - chart.window.from) / chart.window.length
            let position = Double(left) + share * Double(plotWidth)
            let x = fixed(position, decimals: 1)
            let half = Double(tick.label.count * SVGPlot.characterWidth) / 2
            let middle = fixed(min(position, Double(width - 4) - half), decimals: 1)
            text += "<path class=\"grid\" d=\"M\(x) \(top)V\(bottom + 4)\"/>\n"
            text +=
                "<text class=\"label\" text-anchor=\"middle\" x=\"\(middle)\" y=\"\(bottom + 18)\">\(tick.label)</text>\n"
        }
        return text + "<path class=\"axis\" d=\"M\(left) \(top)V\(bottom)H\(left + plotWidth)\"/>\n"
    }

    /// A path that leaves a hole at each gap and covers what is lowest and highest in each column of pixels.
    private func curve(_ index: Int) -> String {
        let envelope = Envelope(of: chart.series[index], in: chart.window, columns: plotWidth)
        var path = ""
        var letters = ""
        for column in envelope.columns {
            let x = x(column.index)
            path += column.isJoined ? "L\(x) " : "M\(x) "
            path += y(column.first)
            if column.least < column.greatest {
                path += "V\(y(column.least))V\(y(column.greatest))V\(y(column.last))"
            } else if !column.isJoined {
                // A lone point: a line without length is drawn as a dot by its round cap.
                path += "h0"
            }
            if let letter = chart.letter(index),
                chart.bearsLetter(index, column: column.index, spacing: SVGPlot.letterSpacing)
            {
                letters +=
                    "<text class=\"letter s\(index % SVGStyle.colours)\" x=\"\(x)\" y=\"\(y(column.last))\">\(letter)</text>\n"
            }
        }
        return path.isEmpty ? "" : "<path class=\"curve c\(index % SVGStyle.colours)\" d=\"\(path)\"/>\n" + letters
    }

    private func legendLine(_ index: Int) -> String {
        let y = top + plotHeight + SVGPlot.timeHeight + (index + 1) * SVGPlot.legendHeight - 4
        let parts = chart.legend(index).map(escaped)
        let figures = parts.dropFirst().joined(separator: "   ")
        return """
            <path class="curve c\(index % SVGStyle.colours)" d="M8 \(y - 4)h12"/>
            <text class="label" xml:space="preserve" x="26" y="\(y)">\
            <tspan class="name">\(parts[0])</tspan>   \(figures)</text>

            """
    }
}

private enum SVGStyle {
    /// Told apart by people who see few colours (the palette of Okabe and Ito); each series has its letter besides.
    private static let lightCurves = ["#0072b2", "#d55e00", "#007a5a", "#a8478a", "#8a6d00", "#3a8fc4"]
    private static let darkCurves = ["#56b4e9", "#ff9a4d", "#2ec9a0", "#e39bc8", "#f0e442", "#9fc8ff"]
    static let colours = lightCurves.count

    static func sheet(_ theme: ChartTheme) -> String {
        let shapes = """
            text{font:12px sans-serif}.title{font-weight:bold}.name{font-weight:bold}
            .curve{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
            .letter{font-weight:bold;text-anchor:middle;paint-order:stroke;stroke-width:3px}
            .grid,.axis{fill:none;stroke-width:1}
            """
        let light = colours(paper: "#ffffff", ink: "#1a1a1a", faint: "#595959", grid: "#e3e3e3", curves: lightCurves)
        let dark = colours(paper: "#15181c", ink: "#f0f0f0", faint: "#b4b4b4", grid: "#33383f", curves: darkCurves)
        switch theme {
        case .light: return shapes + "\n" + light
        case .dark: return shapes + "\n" + dark
        case .automatic: return shapes + "\n" + light + "\n@media (prefers-color-scheme:dark){\n" + dark + "\n}"
        }
    }

    private static func colours(paper: String, ink: String, faint: String, grid: String, curves: [String]) -> String {
        let lines = curves.enumerated().map { ".c\($0){stroke:\($1)}.s\($0){fill:\($1)}" }
        return """
            .paper{fill:\(paper)}.title,.name{fill:\(ink)}.label{fill:\(faint)}.letter{stroke:\(paper)}
            .grid{stroke:\(grid)}.axis{stroke:\(faint)}
            \(lines.joined(separator: "\n"))
            """
    }
}
