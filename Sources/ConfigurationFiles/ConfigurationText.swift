import CTOML

/// A parsed configuration file (TOML 1.0): tables of scalars and lists of texts, with their lines.
package struct ConfigurationText {
    /// The value of a key.
    package enum Value: Hashable {
        case text(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case texts([Item])
        /// A type that no key uses: a table, a date, or an array with an item that is not a string. The associated
        /// value is its name for a user.
        case other(String)
    }

    /// A text of a list.
    package struct Item: Hashable {
        /// The text.
        package let text: String
        /// The line, counted from 1.
        package let line: Int
    }

    /// The maximum size of a file in bytes, far more than all keys with comments need. The limit keeps a wrong file
    /// from filling the memory.
    package static let limit = 65_536

    /// The values by table and key.
    package private(set) var tables: [String: [String: Value]] = [:]
    /// The keys before the first table.
    package private(set) var loose: [String: Value] = [:]
    private var lines: [[String]: Int] = [:]

    /// Parses a text.
    ///
    /// - Throws: the first syntax error, with its line and column if the parser reports them.
    package init(_ text: String) throws(ConfigurationMistake) {
        var fault = ctoml_fault()
        var text = text
        let isRead = withUnsafeMutablePointer(to: &self) { reading in
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    ctoml_read(
                        characters.baseAddress, characters.count, reading,
                        { reading, entry in
                            guard let reading, let entry else { return }
                            reading.assumingMemoryBound(to: ConfigurationText.self).pointee.parse(entry.pointee)
                        }, &fault)
                }
            }
        }
        guard !isRead else { return }
        let reason = withUnsafeBytes(of: fault.reason) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let (line, column) = (Int(fault.line), Int(fault.column))
        throw ConfigurationMistake(
            .syntax(SyntaxExplanation.of(reason, text.lineOfText(line), column: column)), line: line == 0 ? nil : line,
            column: column == 0 ? nil : column)
    }

    /// Decodes the bytes of a file as UTF-8.
    ///
    /// - Throws: the encoding error: UTF-16, or the first line that is not UTF-8. Both have a hint.
    package static func decode(_ bytes: [UInt8]) throws(ConfigurationMistake) -> String {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            throw ConfigurationMistake(
                .encoding("the file is UTF-16; save it as UTF-8 (in Notepad: Save As, Encoding: UTF-8)"))
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw ConfigurationMistake(
            .encoding("this line has a character that is not UTF-8; save the file as UTF-8"), line: line.map { $0 + 1 })
    }

    /// Returns the line of a key, counted from 1. If the key is missing, returns the line of its table, or nil if the
    /// table is missing too.
    package func line(_ table: String?, _ key: String? = nil) -> Int? {
        lines[[table, key].compactMap(\.self)] ?? table.flatMap { lines[[$0]] }
    }

    private mutating func parse(_ entry: ctoml_entry) {
        if entry.kind == CTOML_ITEM {
            parse(item: entry)
            return
        }
        let path = [entry.table, entry.key].compactMap(\.string)
        lines[path] = Int(entry.line)
        guard let key = entry.key.string else {
            tables[path[0]] = [:]
            return
        }
        if let table = entry.table.string {
            tables[table, default: [:]][key] = Value(entry)
        } else {
            loose[key] = Value(entry)
        }
    }

    /// Appends an item to its list. Ignores items of lists before the first table, because no list is valid there.
    private mutating func parse(item entry: ctoml_entry) {
        guard let table = entry.table.string, let key = entry.key.string,
            // The list is removed from the dictionary, so that appending does not copy it.
            case .texts(var items)? = tables[table]?.removeValue(forKey: key)
        else { return }
        items.append(Item(text: entry.string.string ?? "", line: Int(entry.line)))
        tables[table]?[key] = .texts(items)
    }
}

extension ConfigurationText.Value {
    fileprivate init(_ entry: ctoml_entry) {
        switch entry.kind {
        case CTOML_STRING: self = .text(entry.string.string ?? "")
        case CTOML_INTEGER: self = .integer(Int(entry.integer))
        case CTOML_FLOAT: self = .number(entry.number)
        case CTOML_BOOLEAN: self = .boolean(entry.boolean)
        case CTOML_TEXTS: self = .texts([])
        default: self = .other(entry.string.string ?? "")
        }
    }
}

extension ctoml_text {
    fileprivate var string: String? {
        bytes.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: count), as: UTF8.self) }
    }
}

extension String {
    /// Returns a line of the text.
    ///
    /// - Parameter number: the line, counted from 1.
    fileprivate func lineOfText(_ number: Int) -> Substring {
        let lines = split(maxSplits: max(number, 1), omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        return lines.indices.contains(number - 1) ? lines[number - 1] : ""
    }
}
