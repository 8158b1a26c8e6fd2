/// A line of text that shows the course of values, newest at the right: `▁▂▅█▃`.
///
/// - Parameters:
///   - values: Nil is a gap, printed as a space; so is what is not a number.
///   - width: The exact count of columns of the result. With more values than columns each column shows the highest of
///     its values; with fewer, the left is blank.
///   - full: What fills the column, at least; the default is the highest value there is.
public func sparkline(_ values: [Double?], width: Int, full: Double? = nil, glyphs: ChartGlyphs = .braille) -> String {
    guard width > 0 else { return "" }
    let ramp = glyphs.ramp
    let finite = values.map { value in value.flatMap { abs($0) <= Series.largestValue ? $0 : nil } }
    let count = min(width, finite.count)
    let heights = (0..<count).map { column in
        finite[(column * finite.count / count)..<((column + 1) * finite.count / count)].compactMap(\.self).max()
    }
    let known = heights.compactMap(\.self)
    // Zero stands at the bottom, so that a column's height compares; values below zero move the bottom.
    let bottom = min(0, known.min() ?? 0)
    let top = max(known.max() ?? 0, full.map { $0.isFinite ? $0 : 0 } ?? 0, bottom)
    let characters = heights.map { height -> Character in
        guard let height else { return " " }
        guard top > bottom else { return ramp[0] }
        // Only the bottom itself gets the lowest mark, so that a little is not drawn as nothing.
        let level = Int(((height - bottom) / (top - bottom) * Double(ramp.count - 1)).rounded(.up))
        return ramp[min(max(level, 0), ramp.count - 1)]
    }
    return String(repeating: " ", count: width - count) + String(characters)
}
