import Charting
import LinuxSystem
import Presentation
import Terminal

/// Writes a chart to files or to the terminal.
struct ChartOutput {
    /// The width of an SVG image in pixels. A PNG image has twice as many pixels in each direction.
    static let width = 960
    private static let height = 360
    /// The size if the output is not a terminal.
    private static let usualSize = TerminalSize(columns: 100, rows: 24)
    private static let mostRows = 24

    let svg: String?
    let png: String?
    let theme: ChartTheme
    let capabilities: Capabilities

    /// The width in character cells.
    static var columns: Int { (TerminalDevice.standardOutput.size ?? usualSize).columns }

    func show(_ chart: Chart) throws {
        guard svg != nil || png != nil else { return print(chart) }
        // Each additional line of the legend increases the height, so that the plot keeps its height.
        let height = Self.height + 18 * (chart.series.count - 1) + (chart.marks.isEmpty ? 0 : 36)
        do {
            if let svg {
                let bytes = chart.svgBytes(width: Self.width, height: height, theme: theme)
                try FileStore().writeOutput(svg, bytes)
            }
            guard let png else { return }
            // A PNG cannot follow the viewer's colour scheme, so the theme is chosen here.
            let bytes = chart.svgBytes(width: Self.width, height: height, theme: theme == .dark ? .dark : .light)
            let picture = try Picture.png(svg: bytes, width: Self.width, height: height)
            try FileStore().writeOutput(png, picture)
        } catch let error as FileError {
            throw CLIError(error)
        }
    }

    private func print(_ chart: Chart) {
        let size = TerminalDevice.standardOutput.size ?? Self.usualSize
        let chartSize = TerminalSize(columns: size.columns, rows: min(size.rows - 1, Self.mostRows))
        for line in chart.lines(size: chartSize, capabilities: capabilities) {
            guard Output.line(line, capabilities) else { return }
        }
    }
}
