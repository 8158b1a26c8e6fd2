/// Parsed Swift source: its imports, and its code without comments and string literals.
struct SwiftText {
    struct Import: Equatable {
        var module: String
        /// The name of the only imported declaration; nil if the whole module is imported.
        var declaration: String?
        var line: Int
    }

    /// The source without comments and without the contents of string literals. Line breaks stay, so that line numbers
    /// match.
    let code: String
    let lines: [(number: Int, text: Substring)]
    let imports: [Import]

    init(_ source: String) {
        var scanner = LiteralRemover(source)
        code = scanner.run()
        lines = code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
            ($0.offset + 1, $0.element)
        }
        imports = Self.imports(lines)
    }

    private static func imports(_ lines: [(number: Int, text: Substring)]) -> [Import] {
        let form =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)(?:\.(\w+))?/
        return lines.filter { $0.text.contains("import") }.compactMap { number, text in
            text.firstMatch(of: form).map {
                Import(module: String($0.output.1), declaration: $0.output.2.map(String.init), line: number)
            }
        }
    }
}

/// Removes comments and string literals in one pass. Interpolations are removed with their string.
private struct LiteralRemover {
    private let source: [UInt8]
    private var position = 0
    private var kept: [UInt8] = []

    init(_ text: String) { source = Array(text.utf8) }

    mutating func run() -> String {
        while position < source.count {
            switch source[position] {
            case UInt8(ascii: "/") where looking(at: "//"): skip { !$0.looking(at: "\n") }
            case UInt8(ascii: "/") where looking(at: "/*"): skipBlockComment()
            case UInt8(ascii: "\""), UInt8(ascii: "#"):
                if let hashes = openingQuote() { skipString(hashes: hashes) } else { keep() }
            default: keep()
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private mutating func keep() {
        kept.append(source[position])
        position += 1
    }

    private func looking(at text: String) -> Bool {
        source[position...].starts(with: text.utf8)
    }

    private mutating func skip(while condition: (Self) -> Bool) {
        while position < source.count, condition(self) { drop() }
    }

    private mutating func drop(_ count: Int = 1) {
        for _ in 0..<count where position < source.count {
            if source[position] == UInt8(ascii: "\n") { kept.append(UInt8(ascii: "\n")) }
            position += 1
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if looking(at: "/*") {
                depth += 1
                drop(2)
            } else if looking(at: "*/") {
                depth -= 1
                drop(2)
            } else {
                drop()
            }
        } while depth > 0 && position < source.count
    }

    /// Returns the number of `#` before a string literal that begins at this position, or nil if none begins here.
    private func openingQuote() -> Int? {
        let hashes = source[position...].prefix { $0 == UInt8(ascii: "#") }.count
        let quote = position + hashes
        return quote < source.count && source[quote] == UInt8(ascii: "\"") ? hashes : nil
    }

    private mutating func skipString(hashes: Int) {
        drop(hashes)
        let quote = looking(at: "\"\"\"") ? "\"\"\"" : "\""
        let end = quote + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        kept += "\"\"".utf8
        drop(quote.count)
        while position < source.count, !looking(at: end) {
            if looking(at: escape + "(") {
                drop(escape.count)
                skipInterpolation()
            } else if looking(at: escape) {
                drop(escape.count + 1)
            } else {
                drop()
            }
        }
        drop(end.count)
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if let hashes = openingQuote() {
                let count = kept.count
                skipString(hashes: hashes)
                kept.replaceSubrange(count..., with: kept[count...].filter { $0 == UInt8(ascii: "\n") })
                continue
            }
            if looking(at: "(") { depth += 1 }
            if looking(at: ")") { depth -= 1 }
            drop()
        } while depth > 0 && position < source.count
    }
}
