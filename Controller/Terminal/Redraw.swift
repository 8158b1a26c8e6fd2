/// The position of a live display.
public enum Placement: Hashable, Sendable {
    /// The whole alternate screen. The previous content is restored when the display is closed.
    case wholeScreen
    /// The lines below the prompt. They stay visible when the display is closed.
    case inPlace
}

/// Returns the bytes that turn one frame on the screen into the next, with the differences only.
///
/// In place, the cursor begins in the last line of the previous frame, or in the first free line if that frame was
/// empty. It ends in the last line of the next frame. Lines must not be wider than the screen, and frames not taller.
public func redraw(
    from previous: [StyledLine], to next: [StyledLine], placement: Placement, colors: ColorDepth
) -> [UInt8] {
    var writer = FrameWriter(placement: placement, colors: colors, rows: previous.count)
    for (row, line) in next.enumerated() {
        writer.replace(row < previous.count ? cells(previous[row]) : nil, with: cells(line), row: row)
    }
    writer.finish(rows: next.count)
    return Array(writer.output.utf8)
}

/// A character on the screen.
struct ScreenCell: Hashable {
    let character: Character
    let style: Style
    let width: Int
}

private func cells(_ line: StyledLine) -> [ScreenCell] {
    line.spans.flatMap { span in
        span.text.map { ScreenCell(character: $0, style: span.style, width: DisplayWidth.of($0)) }
    }
}

private struct FrameWriter {
    let placement: Placement
    let colors: ColorDepth
    /// The number of lines on the screen.
    var rows: Int
    /// The row of the cursor, used in place only.
    var row: Int
    var output = ""

    init(placement: Placement, colors: ColorDepth, rows: Int) {
        self.placement = placement
        self.colors = colors
        self.rows = rows
        row = max(0, rows - 1)
    }

    /// Replaces one line.
    ///
    /// - Parameter old: the previous cells; nil if the line does not exist yet.
    mutating func replace(_ old: [ScreenCell]?, with new: [ScreenCell], row: Int) {
        guard let old else {
            move(row: row, column: 0)
            write(new[...], column: 0)
            return
        }
        guard old != new else { return }
        let head = zip(old, new).prefix { $0 == $1 }.count
        let column = new[..<head].reduce(0) { $0 + $1.width }
        let oldRest = old[head...]
        let newRest = new[head...]
        let oldWidth = oldRest.reduce(0) { $0 + $1.width }
        let newWidth = newRest.reduce(0) { $0 + $1.width }
        // The text after the change keeps its position only if the old and the new text have the same width.
        let tail = oldWidth == newWidth ? zip(oldRest.reversed(), newRest.reversed()).prefix { $0 == $1 }.count : 0
        move(row: row, column: column)
        write(newRest.dropLast(tail), column: column)
        if newWidth < oldWidth { output += "\u{1B}[K" }
    }

    private mutating func write(_ cells: ArraySlice<ScreenCell>, column start: Int) {
        var column = start
        var style = Style.plain
        for cell in cells {
            if cell.style != style {
                if !style.sequence(colors).isEmpty { output += "\u{1B}[0m" }
                output += cell.style.sequence(colors)
                style = cell.style
            }
            output.append(cell.character)
            column += cell.width
            // Terminals disagree about the width of composed characters, so the column is set again after each.
            if cell.character.unicodeScalars.count > 1 { output += "\u{1B}[\(column + 1)G" }
        }
        if !style.sequence(colors).isEmpty { output += "\u{1B}[0m" }
    }

    private mutating func move(row: Int, column: Int) {
        switch placement {
        case .wholeScreen:
            output += "\u{1B}[\(row + 1);\(column + 1)H"
            rows = max(rows, row + 1)
        case .inPlace:
            while rows <= row {
                // The first line is at the cursor; a line feed creates each further one.
                if rows > 0 {
                    moveVertically(to: rows - 1)
                    output += "\r\n"
                    self.row = rows
                }
                rows += 1
            }
            moveVertically(to: row)
            output += column == 0 ? "\r" : "\u{1B}[\(column + 1)G"
        }
    }

    private mutating func moveVertically(to target: Int) {
        if target < row { output += "\u{1B}[\(row - target)A" }
        if target > row { output += "\u{1B}[\(target - row)B" }
        row = target
    }

    /// Removes the lines that the next frame does not have.
    mutating func finish(rows wanted: Int) {
        if wanted < rows {
            move(row: wanted, column: 0)
            output += "\u{1B}[J"
        }
        if placement == .inPlace { moveVertically(to: max(0, wanted - 1)) }
    }
}
