/// Finds lists and mappings that are nested too deeply, in one pass and before the YAML library reads the text. The
/// library hashes a key once per enclosing mapping; with keys that are mappings themselves, this could take minutes.
///
/// The scan parses only the YAML that decides which characters are structure: quotes, comments, text blocks,
/// indentation. In text that the library rejects anyway, the scan may count too many levels. It counts every level of
/// braces, brackets and indentation. It does not count a list in the column of its key, or a mapping whose key is a
/// list or a mapping. The real depth is therefore at most twice the counted depth.
struct NestingScan {
    private typealias Scalars = [Unicode.Scalar]

    private let text: Scalars
    private var index = 0
    /// The index at which the current line begins.
    private var lineStart = 0
    private var line = 1
    /// The columns, from 0, of the block lists and mappings around the current position.
    private var indents: [Int] = []
    /// The number of open braces and brackets.
    private var flow = 0
    /// True within a plain scalar, where quotes and brackets have no meaning.
    private var inPlain = false
    /// The column of a text on this line that becomes a key if a colon follows; nil if there is no such text.
    private var keyColumn: Int?
    /// True if the current line had a character other than a space or a tab.
    private var lineHasBegun = false
    private let limit: Int

    private init(_ source: SourceText, limit: Int) {
        text = Array(source.text.unicodeScalars)
        self.limit = limit
    }

    /// Returns the first place with more than `limit` nested lists and mappings; nil if there is no such place.
    static func firstDeeper(than limit: Int, in source: SourceText) -> Place? {
        var scan = NestingScan(source, limit: limit)
        while scan.index < scan.text.count {
            scan.step()
            if scan.indents.count + scan.flow > limit {
                return Place(line: scan.line, column: max(1, scan.index - scan.lineStart))
            }
        }
        return nil
    }

    private var column: Int { index - lineStart }

    private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
        text.indices.contains(index + offset) ? text[index + offset] : nil
    }

    private func isBlank(_ offset: Int) -> Bool {
        guard let scalar = scalar(offset) else { return true }
        return scalar == " " || scalar == "\t" || SourceText.isBreak(scalar)
    }

    private mutating func advance() {
        if SourceText.isBreak(text[index]), !(text[index] == "\r" && scalar(1) == "\n") {
            line += 1
            lineStart = index + 1
            lineHasBegun = false
            keyColumn = nil
        } else if !isBlank(0) {
            lineHasBegun = true
        }
        index += 1
    }

    private mutating func step() {
        guard !isBlank(0), let next = scalar() else { return advance() }
        if !lineHasBegun, endsDocumentPart(next) { return }
        if flow == 0, !lineHasBegun { unroll() }
        if next == "#", !inPlain || isBlank(-1) { return skipLine() }
        if flow > 0, "[]{},".unicodeScalars.contains(next) { return flowIndicator(next) }
        if next == ":", isBlank(1) || flow > 0 && (!inPlain || ",[]{}".unicodeScalars.contains(scalar(1) ?? " ")) {
            if flow == 0 { roll(to: keyColumn ?? column) }
            keyColumn = nil
            inPlain = false
            return advance()
        }
        guard !inPlain else { return advance() }
        beginToken(next)
    }

    private mutating func beginToken(_ next: Unicode.Scalar) {
        if flow == 0, "-?".unicodeScalars.contains(next), isBlank(1) {
            roll(to: column)
            keyColumn = nil
            return advance()
        }
        if flow > 0, next == "?" { return advance() }
        if flow == 0 { keyColumn = keyColumn ?? column }
        switch next {
        case "[", "{": flowIndicator(next)
        case "'", "\"": skipQuoted(next)
        case "&", "!": while !isBlank(0), flow == 0 || !",]}".unicodeScalars.contains(text[index]) { advance() }
        case "|" where flow == 0, ">" where flow == 0: skipTextBlock()
        case _:
            inPlain = true
            advance()
        }
    }

    private mutating func flowIndicator(_ indicator: Unicode.Scalar) {
        switch indicator {
        case "[", "{": flow += 1
        case "]", "}": flow -= 1
        case _: break
        }
        inPlain = false
        advance()
    }

    /// Skips a directive, `---` or `...` at the beginning of a line, which ends the previous part of the document.
    /// Returns true if there was one.
    private mutating func endsDocumentPart(_ next: Unicode.Scalar) -> Bool {
        guard column == 0 else { return false }
        if next == "%", !inPlain, indents.isEmpty, flow == 0 {
            skipLine()
            return true
        }
        guard next == "-" || next == ".", scalar(1) == next, scalar(2) == next, isBlank(3) else { return false }
        for _ in 0..<3 { advance() }
        (indents, flow, inPlain) = ([], 0, false)
        return true
    }

    /// Ends the lists and mappings that are indented more than this line. A plain scalar continues only if this line is
    /// indented more than the innermost list or mapping.
    private mutating func unroll() {
        while let last = indents.last, last > column { indents.removeLast() }
        if column <= indents.last ?? -1 { inPlain = false }
    }

    private mutating func roll(to column: Int) {
        if column > indents.last ?? -1 { indents.append(column) }
    }

    private mutating func skipLine() {
        while let next = scalar(), !SourceText.isBreak(next) { advance() }
        inPlain = false
    }

    private mutating func skipQuoted(_ quote: Unicode.Scalar) {
        advance()
        while let next = scalar(), next != quote || quote == "'" && scalar(1) == "'" {
            // A doubled quote and an escaped character are text.
            if next == quote || quote == "\"" && next == "\\" && scalar(1) != nil { advance() }
            advance()
        }
        if scalar() != nil { advance() }
    }

    /// Skips the lines of a text block: those that are indented at least as far as its first line, and farther than the
    /// enclosing block.
    private mutating func skipTextBlock() {
        let around = indents.last ?? -1
        var indent: Int?
        while let next = scalar(), !SourceText.isBreak(next) {
            if let digit = Int(String(next)), indent == nil { indent = max(around, 0) + digit }
            if next == "#", isBlank(-1) { break }
            advance()
        }
        skipLine()
        while index < text.count {
            advance()
            let spaces = text[index...].prefix { $0 == " " }.count
            guard index + spaces < text.count else { return index = text.count }
            guard !SourceText.isBreak(text[index + spaces]) else {
                index += spaces
                continue
            }
            let least = indent ?? max(spaces, around + 1)
            indent = least
            guard spaces >= least else { return }
            skipLine()
        }
    }
}
