import TOMLKit

/// The text of a configuration file as tables of scalars, and where each of them stands.
struct ConfigurationText {
    enum Value: Hashable {
        case text(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        /// What no key of ours takes, in TOML's word: an array, a table, a date.
        case other(String)
    }

    /// Bytes of a file that are read: far more than every key with its comments. It stops a wrong file from filling the memory.
    static let limit = 65_536

    let tables: [String: [String: Value]]
    /// Keys that stand before the first table.
    let loose: [String: Value]
    private let lines: [[String]: Int]

    /// - Throws: the first thing that is no TOML, with its place.
    init(_ text: String) throws(ConfigurationMistake) {
        // The parser takes a C string, and would see nothing of what follows.
        guard !text.utf8.contains(0) else {
            throw ConfigurationMistake(.syntax("the text has a zero byte: this is no configuration file"))
        }
        let root: TOMLTable
        do {
            root = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            let begin = error.source.begin
            throw ConfigurationMistake(.syntax(error.description), line: begin.line, column: begin.column)
        } catch {
            throw ConfigurationMistake(.syntax("\(error)"))
        }
        var tables: [String: [String: Value]] = [:]
        for name in root.keys {
            if let table = root[name]?.table { tables[name] = Self.values(of: table) }
        }
        self.tables = tables
        loose = Self.values(of: root).filter { tables[$0.key] == nil }
        lines = Self.places(in: text)
    }

    /// The line, counted from 1, where a table begins or a key stands; nil where the way it is written hides it.
    func line(_ table: String?, _ key: String? = nil) -> Int? {
        let path = [table, key].compactMap(\.self)
        return lines[path] ?? table.flatMap { lines[[$0]] }
    }

    private static func values(of table: TOMLTable) -> [String: Value] {
        var values: [String: Value] = [:]
        for key in table.keys {
            // A key with a zero byte in it comes back cut off, and is not found under that name.
            guard let value = table[key] else {
                values[key] = .other("a key that nobody can write")
                continue
            }
            values[key] = scalar(value) ?? .other("nothing that can be read")
        }
        return values
    }

    private static func scalar(_ value: any TOMLValueConvertible) -> Value? {
        switch value.type {
        case .string: value.string.map { .text($0) }
        case .int: value.int.map { .integer($0) }
        case .double: value.double.map { .number($0) }
        case .bool: value.bool.map { .boolean($0) }
        case .table: .other("a table")
        case .array: .other("an array")
        case .date, .time, .dateTime: .other("a date or time")
        }
    }

    /// The parser keeps no places, so they are looked for in the text. A way of writing that this does not see costs the
    /// line of a message, nothing else.
    private static func places(in text: String) -> [[String]: Int] {
        var places: [[String]: Int] = [:]
        var table: [String] = []
        var isInLongText = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            defer { for mark in ["\"\"\"", "'''"] where !occurs(mark, evenlyIn: line) { isInLongText.toggle() } }
            guard !isInLongText else { continue }
            let line = trimmed(line)
            if line.hasPrefix("[") {
                table = path(line.drop { $0 == "[" }.prefix { $0 != "]" })
                if places[table] == nil { places[table] = index + 1 }
            } else if !line.hasPrefix("#"), let end = line.firstIndex(of: "=") {
                let path = table + path(line[..<end])
                if places[path] == nil { places[path] = index + 1 }
                if table.isEmpty, path.count > 1, places[[path[0]]] == nil { places[[path[0]]] = index + 1 }
            }
        }
        return places
    }

    private static func path(_ text: Substring) -> [String] {
        text.split(separator: ".").map { part in
            let part = trimmed(part)
            let isQuoted = part.count > 1 && (part.first == "\"" || part.first == "'") && part.first == part.last
            return String(isQuoted ? part.dropFirst().dropLast() : part)
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func occurs(_ mark: String, evenlyIn line: Substring) -> Bool {
        var isEven = true
        var rest = line
        while let next = rest.firstIndex(of: mark.first!) {
            rest = rest[next...]
            if rest.hasPrefix(mark) {
                isEven.toggle()
                rest = rest.dropFirst(mark.count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return isEven
    }
}
