import ProtocolCore

/// Reads tables and their keys, and gathers what is wrong with them. What is asked for is what is known: all else in the file is
/// told as unknown.
final class ConfigurationReader {
    let text: ConfigurationText
    private(set) var mistakes: [ConfigurationMistake] = []
    /// Every key that was asked for, by its table, with what may be said of it: "0.1 to 60 s", or each word that it takes.
    private(set) var known: [String: [String: Set<String>]] = [:]
    /// By which key each line of the board is used.
    private var lines: [LineConfiguration.Place: String] = [:]

    init(_ text: ConfigurationText) { self.text = text }

    /// The table, empty where the file does not have it.
    func table(_ name: String) -> Table {
        known[name] = [:]
        return Table(name: name, values: text.tables[name] ?? [:], isThere: text.tables[name] != nil, reader: self)
    }

    func wrong(_ problem: ConfigurationMistake.Problem, _ table: String?, _ key: String? = nil) {
        mistakes.append(
            ConfigurationMistake(problem, table: table, key: key, line: text.line(table, key)))
    }

    func ask(for key: String, in table: String, allowed: [String]) {
        known[table]?[key, default: []].formUnion(allowed)
    }

    /// Notes that a part uses the line; whoever comes second is told.
    func use(_ place: LineConfiguration.Place, by table: String, _ key: String) {
        if let other = lines.updateValue("[\(table)] \(key)", forKey: place) {
            wrong(.lineTwice(other: other), table, key)
        }
    }

    /// What nobody asked for. Called last.
    func tellUnknown() {
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
