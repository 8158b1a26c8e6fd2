/// The text of a file, split into lines as YAML splits them, so that places refer to the same lines.
struct SourceText {
    let text: String
    private let lines: [Substring.UnicodeScalarView]

    init(_ text: String) {
        // A byte order mark is not part of the first line.
        self.text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        var lines: [Substring.UnicodeScalarView] = []
        let scalars = self.text.unicodeScalars
        var start = scalars.startIndex
        var index = start
        while index < scalars.endIndex {
            let next = scalars.index(after: index)
            let isReturnOfPair = scalars[index] == "\r" && next < scalars.endIndex && scalars[next] == "\n"
            if Self.isBreak(scalars[index]), !isReturnOfPair {
                let end =
                    scalars[index] == "\n" && index > start && scalars[scalars.index(before: index)] == "\r"
                    ? scalars.index(before: index) : index
                lines.append(scalars[start..<end])
                start = next
            }
            index = next
        }
        lines.append(scalars[start...])
        self.lines = lines
    }

    /// Returns true for the line breaks of YAML 1.1: line feed, carriage return, next line, line and paragraph
    /// separator.
    static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: true
        case _: false
        }
    }

    /// Returns the text of a line without its break; empty after the last line. The first line is 1.
    func line(_ number: Int) -> String {
        lines.indices.contains(number - 1) ? String(lines[number - 1]) : ""
    }

    /// The first character that is not allowed, with its place: YAML does not allow it, it changes the display order,
    /// or it is ``YAMLTree/aliasMark``. Nil if all characters are allowed.
    var firstForbidden: (Place, Unicode.Scalar)? {
        for (row, line) in lines.enumerated() {
            for (column, scalar) in line.enumerated() where !Self.isAllowed(scalar) {
                return (Place(line: row + 1, column: column + 1), scalar)
            }
        }
        return nil
    }

    /// The place of the first character that changes the display order of text (Unicode Standard Annex 9, explicit
    /// formatting characters), or nil.
    var firstReordering: Place? {
        for (row, line) in lines.enumerated() {
            for (column, scalar) in line.enumerated() where Self.isReordering(scalar) {
                return Place(line: row + 1, column: column + 1)
            }
        }
        return nil
    }

    static func isReordering(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x202A...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if isReordering(scalar) { return false }
        return switch scalar.value {
        case 0x09, 0x20...0x7E, 0xA0...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: scalar != YAMLTree.aliasMark
        case _: false
        }
    }

    /// Returns the place of the second occurrence of a key in a mapping, if the first is at `first`. Only the rest of
    /// the same line and the same column of the following lines are searched. Nil if it is not found there.
    func repetition(of key: String, after first: Place) -> Place? {
        guard !key.isEmpty else { return nil }
        let key = Array(key.unicodeScalars)
        func isKey(_ line: [Unicode.Scalar], at column: Int) -> Bool {
            column + key.count < line.count && Array(line[column..<column + key.count]) == key
                && line[(column + key.count)...].first { $0 != " " } == ":"
        }
        let line = Array(self.line(first.line).unicodeScalars)
        for column in stride(from: first.column, to: line.count, by: 1)
        where [" ", ",", "{"].contains(line[column - 1]) && isKey(line, at: column) {
            return Place(line: first.line, column: column + 1)
        }
        for row in stride(from: first.line + 1, through: lines.count, by: 1) {
            let line = Array(self.line(row).unicodeScalars)
            let indent = line.firstIndex { $0 != " " } ?? .max
            if indent < first.column - 1 { return nil }
            if indent == first.column - 1, isKey(line, at: indent) { return Place(line: row, column: indent + 1) }
        }
        return nil
    }
}
