extension Chart {
    /// Returns the chart as an SVG document of the given size in pixels, with the same axes, envelope and figures as
    /// the text. If the size is too small, the picture contains a message instead.
    public func svg(width: Int, height: Int, theme: ChartTheme = .automatic) -> String {
        String(decoding: svgBytes(width: width, height: height, theme: theme), as: UTF8.self)
    }

    /// Returns the SVG document as UTF-8 bytes.
    public func svgBytes(width: Int, height: Int, theme: ChartTheme = .automatic) -> [UInt8] {
        let width = max(1, width)
        let height = max(1, height)
        let plot = SVGPlot(chart: self, width: width, height: height)
        var writer = SVGWriter()
        writer.raw(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" \
            viewBox="0 0 \(width) \(height)" role="img">
            <title>
            """)
        writer.text(title.isEmpty ? "Chart" : title)
        writer.raw("</title>\n<desc>")
        writer.text(plot.map { $0.summary } ?? "")
        writer.raw(
            """
            </desc>
            <style>
            \(SVGStyle.sheet(theme, series: series.count))
            </style>
            <rect class="paper" width="\(width)" height="\(height)"/>

            """)
        if let plot {
            plot.draw(&writer)
        } else {
            writer.raw("<text class=\"label\" x=\"2\" y=\"\(height / 2 + 4)\">too small for a chart</text>\n")
        }
        writer.raw("</svg>\n")
        return writer.bytes
    }
}
