import ProtocolCore

/// Reads tables and keys of a configuration file, and records the mistakes. The keys that are read define the valid
/// ones; all others in the file are reported as unknown.
package final class ConfigurationReader {
    /// The parsed file.
    package let text: ConfigurationText
    /// The recorded mistakes.
    package private(set) var mistakes: [ConfigurationMistake] = []
    /// Every key that was read, by table, with its allowed values: a range such as "0.1 to 60 s", or words.
    package private(set) var known: [String: [String: Set<String>]] = [:]
    /// The key that uses each exclusive resource.
    private var users: [AnyHashable: String] = [:]

    /// Creates a reader for a parsed file.
    package init(_ text: ConfigurationText) { self.text = text }

    /// Parses the bytes of a file.
    ///
    /// - Throws: ``ConfigurationError`` if the file is not TOML.
    package convenience init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        do throws(ConfigurationMistake) {
            self.init(try ConfigurationText(try ConfigurationText.decode(bytes)))
        } catch {
            throw ConfigurationError(file: file, mistakes: [error])
        }
    }

    /// Resolves a path in a configuration file. A path that begins with `~/` is relative to `home`; another relative
    /// path is relative to the file's directory.
    package static func path(_ written: String, beside file: String, home: String) -> String {
        if written.hasPrefix("/") { return written }
        if written.hasPrefix("~/") { return home + written.dropFirst() }
        return file[..<(file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex)] + written
    }

    /// Returns a table, which is empty if the file does not have it.
    package func table(_ name: String) -> Table {
        known[name] = [:]
        return Table(name: name, values: text.tables[name] ?? [:], isThere: text.tables[name] != nil, reader: self)
    }

    /// Records a mistake.
    package func wrong(
        _ problem: ConfigurationMistake.Problem, _ table: String?, _ key: String? = nil, line: Int? = nil
    ) {
        mistakes.append(
            ConfigurationMistake(problem, table: table, key: key, line: line ?? text.line(table, key)))
    }

    func ask(for key: String, in table: String, allowed: [String]) {
        known[table]?[key, default: []].formUnion(allowed)
    }

    /// Registers that a key uses an exclusive resource. Records a mistake if another key already uses it.
    package func use(_ thing: some Hashable, _ what: String, by table: String, _ key: String) {
        if let other = users.updateValue("[\(table)] \(key)", forKey: thing) {
            wrong(.usedTwice(what: what, other: other), table, key)
        }
    }

    /// Records a mistake for every table and key that was not read. Must be called last.
    package func reportUnknown() {
        for key in text.loose.keys { wrong(.outsideTable(of: tables(with: key)), nil, key) }
        let names = known.keys.sorted()
        for (name, values) in text.tables {
            guard let keys = known[name]?.keys.sorted() else {
                wrong(.unknownTable(nearest: Suggestion.nearest(to: name, among: names), known: names), name)
                continue
            }
            for key in values.keys where !keys.contains(key) {
                let others = tables(with: key)
                let nearest = Suggestion.nearest(to: key, among: keys)
                wrong(others.isEmpty ? .unknownKey(nearest: nearest, known: keys) : .otherTable(others), name, key)
            }
        }
    }

    private func tables(with key: String) -> [String] {
        known.filter { $0.value[key] != nil }.keys.sorted()
    }
}
