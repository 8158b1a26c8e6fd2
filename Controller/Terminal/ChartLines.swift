public import Charting

extension Chart {
    /// Returns the chart for a terminal with its glyphs, colours and character widths.
    ///
    /// - Returns: `size.rows` lines of `size.columns` each.
    public func lines(size: TerminalSize, capabilities: Capabilities) -> [StyledLine] {
        text(
            columns: size.columns, rows: size.rows, glyphs: capabilities.glyphs,
            characterWidth: { DisplayWidth.of($0) }
        ).map { line in
            var styled = StyledLine()
            for span in line.spans { styled.append(span.text, Style(span.role)) }
            return styled
        }
    }
}

extension Capabilities {
    /// The glyphs for charts and sparklines.
    public var glyphs: ChartGlyphs { hasBraille ? .braille : .plain }
}

extension Style {
    /// Colours that are distinguishable with colour blindness (based on the palette of Okabe and Ito). Letters also
    /// distinguish the curves.
    private static let curves: [Ink] = [
        .indexed(38, otherwise: .cyan), .indexed(208, otherwise: .yellow), .indexed(36, otherwise: .green),
        .indexed(175, otherwise: .magenta), .indexed(220, otherwise: .brightYellow),
        .indexed(75, otherwise: .brightBlue),
    ]

    /// Creates the style of a part of a chart.
    public init(_ role: ChartRole) {
        switch role {
        case .text: self = .plain
        case .axis: self = .faint
        case .series(let index): self.init(ink: Style.curves[index % Style.curves.count])
        }
    }
}
