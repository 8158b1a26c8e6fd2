import Charting
import DurableFiles
import Pictures
import Terminal

/// Where a chart goes: into files, or onto the terminal.
struct ChartOutput {
    /// Pixels of a picture; a PNG has twice as many.
    static let width = 960
    private static let height = 360
    /// Of what is no terminal.
    private static let usualSize = TerminalSize(columns: 100, rows: 24)
    private static let mostRows = 24

    let svg: String?
    let png: String?
    let theme: ChartTheme
    let capabilities: Capabilities

    /// Character cells across.
    static var columns: Int { (TerminalDevice.standardOutput.size ?? usualSize).columns }

    func show(_ chart: Chart) throws {
        guard svg != nil || png != nil else { return print(chart) }
        // Each further line of the legend has its room, so that the plot stays as high.
        let height = Self.height + 18 * (chart.series.count - 1) + (chart.marks.isEmpty ? 0 : 36)
        do {
            if let svg {
                let bytes = chart.svgBytes(width: Self.width, height: height, theme: theme)
                try FileStore().writeOutput(svg, bytes)
            }
            guard let png else { return }
            // No viewer says what it prefers.
            let bytes = chart.svgBytes(width: Self.width, height: height, theme: theme == .dark ? .dark : .light)
            let picture = try Picture.png(svg: bytes, width: Self.width, height: height)
            try FileStore().writeOutput(png, picture)
        } catch let error as FileError {
            throw Complaint(error)
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
