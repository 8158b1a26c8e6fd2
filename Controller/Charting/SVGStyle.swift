/// The colours of a picture.
public enum ChartTheme: String, CaseIterable, Hashable, Sendable {
    case light
    case dark
    /// Follows the viewer's preference; light if the viewer has none.
    case automatic
}

enum SVGStyle {
    /// The colours of curves. The first six are distinguishable with colour blindness (based on the palette of Okabe
    /// and Ito). A chart with more series has more colours, each as different from the previous ones as possible. Each
    /// series also has its letter.
    private static let lightCurves =
        ["#0072b2", "#d55e00", "#007a5a", "#a8478a", "#8a6d00", "#3a8fc4"]
        + [
            "#0000ff", "#000080", "#341d19", "#e6004c", "#cc00cc", "#3377ff", "#008000", "#ac6253", "#00194c",
            "#800000",
            "#884dff", "#334c00", "#e60099", "#144752", "#4c0033", "#e60000", "#6253ac", "#550066", "#663300",
            "#b20059",
        ]
    private static let darkCurves =
        ["#56b4e9", "#ff9a4d", "#2ec9a0", "#e39bc8", "#f0e442", "#9fc8ff"]
        + [
            "#d400ff", "#00ff00", "#ff0055", "#3377ff", "#fff6cc", "#339900", "#ff1ab2", "#8a7e42", "#1aff8c",
            "#ff2a00",
            "#ea80ff", "#ccff99", "#ff8080", "#99e600", "#b2ffff", "#428a8a", "#7575bd", "#b29500", "#4e8a42",
            "#c59187",
        ]
    /// The minimum number of colours that a picture defines; a chart with more series defines one per series.
    private static let leastColours = 6
    static let colours = lightCurves.count

    static func sheet(_ theme: ChartTheme, series: Int) -> String {
        let count = max(leastColours, series)
        let shapes = """
            text{font-family:sans-serif;font-size:12px}.title{font-size:14px;font-weight:bold}.name{font-weight:bold}
            .curve{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
            .band{fill-opacity:.25;stroke-opacity:.5;stroke-width:1;stroke-linejoin:round}
            .area{fill-opacity:.45;stroke:none}.peak{fill-opacity:.15;stroke-opacity:.4;stroke-width:1}
            .bar{stroke:none}.guess{fill-opacity:.4}.span{fill-opacity:.09}.lane{fill-opacity:.28}
            .letter{font-weight:bold;text-anchor:middle;paint-order:stroke;stroke-width:3px}
            .middle{text-anchor:middle}.end{text-anchor:end}.small{font-size:11px}
            .grid,.axis,.mark{fill:none;stroke-width:1}.mark{stroke-dasharray:2 3}
            """
        let light = colours(
            paper: "#ffffff", ink: "#1a1a1a", faint: "#595959", grid: "#e6e6e6", curves: lightCurves.prefix(count))
        let dark = colours(
            paper: "#15181c", ink: "#f0f0f0", faint: "#b4b4b4", grid: "#2c3137", curves: darkCurves.prefix(count))
        switch theme {
        case .light: return shapes + "\n" + light
        case .dark: return shapes + "\n" + dark
        case .automatic: return shapes + "\n" + light + "\n@media (prefers-color-scheme:dark){\n" + dark + "\n}"
        }
    }

    private static func colours(paper: String, ink: String, faint: String, grid: String, curves: ArraySlice<String>)
        -> String
    {
        let lines = curves.enumerated().map { ".c\($0){stroke:\($1)}.s\($0){fill:\($1)}" }
        return """
            .paper{fill:\(paper)}.title,.name,.sign{fill:\(ink)}.label{fill:\(faint)}.letter{stroke:\(paper)}
            .grid{stroke:\(grid)}.axis,.mark{stroke:\(faint)}.span,.lane{fill:\(faint)}
            \(lines.joined(separator: "\n"))
            """
    }
}
