import Terminal

/// A model of a terminal with the sequences that redrawing uses. It shows the effect of the written bytes.
struct ScreenModel {
    let columns: Int
    private(set) var rows: [[Character]]
    private(set) var row = 0
    private(set) var column = 0
    /// The number of written characters.
    private(set) var written = 0

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    }

    /// The lines without trailing spaces. In `rows`, a wide character is in its first column, and its second column has
    /// "\0".
    var lines: [String] {
        rows.map { row in
            let text = String(row.filter { $0 != "\0" })
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
    }

    mutating func feed(_ bytes: [UInt8]) {
        // Swift treats "\r\n" as one character.
        var text = Array(String(decoding: bytes, as: UTF8.self).flatMap { $0 == "\r\n" ? ["\r", "\n"] : [$0] })[...]
        while let character = text.popFirst() {
            switch character {
            case "\r": column = 0
            case "\n": row = min(row + 1, rows.count - 1)
            case "\u{1B}": sequence(&text)
            default: put(character)
            }
        }
    }

    private mutating func put(_ character: Character) {
        let width = DisplayWidth.of(character)
        guard column + width <= columns else { return }
        rows[row][column] = character
        if width == 2 { rows[row][column + 1] = "\0" }
        column += width
        written += 1
    }

    private mutating func sequence(_ text: inout ArraySlice<Character>) {
        precondition(text.popFirst() == "[")
        var parameters = ""
        while let next = text.first, !next.isLetter { parameters.append(text.removeFirst()) }
        let numbers = parameters.split(separator: ";").map { Int($0) ?? 0 }
        switch text.removeFirst() {
        case "A": row = max(0, row - numbers[0])
        case "B": row = min(rows.count - 1, row + numbers[0])
        case "G": column = numbers[0] - 1
        case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
        case "J":
            erase(row, from: column)
            for below in rows.indices where below > row { erase(below, from: 0) }
        case "K": erase(row, from: column)
        case "m": break
        case let other: preconditionFailure("unknown sequence \(other)")
        }
    }

    private mutating func erase(_ row: Int, from start: Int) {
        for column in start..<max(start, columns) { rows[row][column] = " " }
    }
}
