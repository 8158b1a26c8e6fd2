/// Returns a line of text that shows values over time, newest on the right: `▁▂▅█▃`.
///
/// - Parameters:
///   - values: The values; nil and NaN are gaps, printed as spaces.
///   - width: The number of columns of the result. If there are more values, each column shows the highest of its
///     values; if there are fewer, the left is blank.
///   - full: The value of a full column, unless `values` has a higher one; nil for the highest value.
///   - glyphs: The characters of the terminal.
public func sparkline(_ values: [Double?], width: Int, full: Double? = nil, glyphs: ChartGlyphs = .braille) -> String {
    guard width > 0 else { return "" }
    let ramp = glyphs.ramp
    let finite = values.map { value in value.flatMap { abs($0) <= Series.largestValue ? $0 : nil } }
    let count = min(width, finite.count)
    let heights = (0..<count).map { column in
        finite[(column * finite.count / count)..<((column + 1) * finite.count / count)].compactMap(\.self).max()
    }
    let known = heights.compactMap(\.self)
    // Zero is at the bottom, so that heights can be compared. Negative values move the bottom down.
    let bottom = min(0, known.min() ?? 0)
    let top = max(known.max() ?? 0, full.map { $0.isFinite ? $0 : 0 } ?? 0, bottom)
    let characters = heights.map { height -> Character in
        guard let height else { return " " }
        guard top > bottom else { return ramp[0] }
        // Only the bottom value gets the lowest character, so that small values stay visible.
        let level = Int(((height - bottom) / (top - bottom) * Double(ramp.count - 1)).rounded(.up))
        return ramp[min(max(level, 0), ramp.count - 1)]
    }
    return String(repeating: " ", count: width - count) + String(characters)
}
