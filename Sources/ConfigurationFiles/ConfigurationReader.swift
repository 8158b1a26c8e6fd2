import ProtocolCore

/// Reads tables and their keys, and gathers what is wrong with them. What is asked for is what is known: all else in the file is
/// told as unknown.
package final class ConfigurationReader {
    package let text: ConfigurationText
    package private(set) var mistakes: [ConfigurationMistake] = []
    /// Every key that was asked for, by its table, with what may be said of it: "0.1 to 60 s", or each word that it takes.
    package private(set) var known: [String: [String: Set<String>]] = [:]
    /// By which key each thing is used of which there is one.
    private var users: [AnyHashable: String] = [:]

    package init(_ text: ConfigurationText) { self.text = text }

    /// - Throws: ``ConfigurationError`` where the file is not TOML.
    package convenience init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        do throws(ConfigurationMistake) {
            self.init(try ConfigurationText(try ConfigurationText.decode(bytes)))
        } catch {
            throw ConfigurationError(file: file, mistakes: [error])
        }
    }

    /// The path of a file that another one names: beside that, unless it begins with `/`, or with `~/`.
    package static func path(_ written: String, beside file: String, home: String) -> String {
        if written.hasPrefix("/") { return written }
        if written.hasPrefix("~/") { return home + written.dropFirst() }
        return file[..<(file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex)] + written
    }

    /// The table, empty where the file does not have it.
    package func table(_ name: String) -> Table {
        known[name] = [:]
        return Table(name: name, values: text.tables[name] ?? [:], isThere: text.tables[name] != nil, reader: self)
    }

    package func wrong(
        _ problem: ConfigurationMistake.Problem, _ table: String?, _ key: String? = nil, line: Int? = nil
    ) {
        mistakes.append(
            ConfigurationMistake(problem, table: table, key: key, line: line ?? text.line(table, key)))
    }

    func ask(for key: String, in table: String, allowed: [String]) {
        known[table]?[key, default: []].formUnion(allowed)
    }

    /// Notes that a key takes the thing; whoever comes second is told.
    package func use(_ thing: some Hashable, _ what: String, by table: String, _ key: String) {
        if let other = users.updateValue("[\(table)] \(key)", forKey: thing) {
            wrong(.usedTwice(what: what, other: other), table, key)
        }
    }

    /// What nobody asked for. Called last.
    package func tellUnknown() {
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
