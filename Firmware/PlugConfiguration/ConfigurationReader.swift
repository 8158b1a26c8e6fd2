import ProtocolCore

/// Reads tables and their keys, and gathers what is wrong with them. What is asked for is what is known: all else in the file is
/// told as unknown.
final class ConfigurationReader {
    let text: ConfigurationText
    private(set) var mistakes: [ConfigurationMistake] = []
    private(set) var known: [String: [String]] = [:]
    /// By which key each line of the board is used.
    private var lines: [LineConfiguration.Place: String] = [:]

    init(_ text: ConfigurationText) { self.text = text }

    /// The table, empty where the file does not have it.
    func table(_ name: String) -> Table {
        known[name] = []
        return Table(name: name, values: text.tables[name] ?? [:], isThere: text.tables[name] != nil, reader: self)
    }

    func wrong(_ problem: ConfigurationMistake.Problem, _ table: String?, _ key: String? = nil) {
        mistakes.append(
            ConfigurationMistake(problem, table: table, key: key, line: text.line(table, key)))
    }

    fileprivate func ask(for key: String, in table: String) { known[table]?.append(key) }

    /// Notes that a part uses the line; whoever comes second is told.
    func use(_ place: LineConfiguration.Place, by table: String, _ key: String) {
        if let other = lines.updateValue("[\(table)] \(key)", forKey: place) {
            wrong(.lineTwice(other: other), table, key)
        }
    }

    /// What nobody asked for. Called last.
    func tellUnknown() {
        for key in text.loose.keys.sorted() { wrong(.outsideTable, nil, key) }
        let names = known.keys.sorted()
        for (name, values) in text.tables {
            guard let keys = known[name] else {
                wrong(.unknownTable(nearest: Suggestion.nearest(to: name, among: names)), name)
                continue
            }
            for key in values.keys where !keys.contains(key) {
                wrong(.unknownKey(nearest: Suggestion.nearest(to: key, among: keys)), name, key)
            }
        }
    }

    /// One table of the file. Each key is asked for once; one that is wrong is told, and its default taken.
    struct Table {
        let name: String
        fileprivate let values: [String: ConfigurationText.Value]
        let isThere: Bool
        let reader: ConfigurationReader

        func has(_ key: String) -> Bool { values[key] != nil }

        func wrong(_ problem: ConfigurationMistake.Problem, _ key: String? = nil) { reader.wrong(problem, name, key) }

        private func value(_ key: String) -> ConfigurationText.Value? {
            reader.ask(for: key, in: name)
            return values[key]
        }

        /// - Parameter what: what the text is, for whoever wrote something else.
        func text(_ key: String, _ what: String, longest: Int = 255) -> String? {
            guard let value = value(key) else { return nil }
            guard case .text(let text) = value else {
                wrong(.wrongType(expected: "\(what), in quotation marks", found: value.words), key)
                return nil
            }
            guard (1...longest).contains(text.utf8.count) else {
                wrong(.outOfRange(found: "a text of \(text.utf8.count) bytes", allowed: "1 to \(longest) bytes"), key)
                return nil
            }
            return text
        }

        func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, _: Choice.Type = Choice.self) -> Choice?
        where Choice.RawValue == String {
            let all = Choice.allCases.map(\.rawValue)
            guard let value = value(key) else { return nil }
            guard case .text(let text) = value else {
                wrong(.wrongType(expected: all.map { "\"\($0)\"" }.joined(separator: " or "), found: value.words), key)
                return nil
            }
            guard let choice = Choice(rawValue: text) else {
                wrong(.notOneOf(found: text, allowed: all), key)
                return nil
            }
            return choice
        }

        func boolean(_ key: String) -> Bool? {
            guard let value = value(key) else { return nil }
            guard case .boolean(let boolean) = value else {
                wrong(.wrongType(expected: "true or false", found: value.words), key)
                return nil
            }
            return boolean
        }

        func integer(_ key: String, _ range: ClosedRange<Int>, _ unit: String = "", radix: Int = 10) -> Int? {
            guard let value = value(key) else { return nil }
            func written(_ number: Int) -> String { (radix == 16 ? "0x" : "") + String(number, radix: radix) }
            guard case .integer(let integer) = value else {
                wrong(.wrongType(expected: "a whole number", found: value.words), key)
                return nil
            }
            guard range.contains(integer) else {
                let unit = unit.isEmpty ? "" : " \(unit)"
                wrong(
                    .outOfRange(
                        found: written(integer),
                        allowed: "\(written(range.lowerBound)) to \(written(range.upperBound))\(unit)"), key)
                return nil
            }
            return integer
        }

        /// - Parameter isOffAtZero: 0 is taken too, and turns it off.
        func number(
            _ key: String, _ range: ClosedRange<Double>, _ unit: String = "", isOffAtZero: Bool = false
        ) -> Double? {
            guard let value = value(key) else { return nil }
            let number: Double
            switch value {
            case .integer(let integer): number = Double(integer)
            case .number(let known): number = known
            case .text, .boolean, .other:
                wrong(.wrongType(expected: "a number", found: value.words), key)
                return nil
            }
            guard range.contains(number) || isOffAtZero && number == 0 else {
                let unit = (unit.isEmpty ? "" : " \(unit)") + (isOffAtZero ? ", or 0 for off" : "")
                wrong(
                    .outOfRange(
                        found: plain(number),
                        allowed: "\(plain(range.lowerBound)) to \(plain(range.upperBound))\(unit)"), key)
                return nil
            }
            return number
        }

        /// The key is one of this table's, and nothing more can be said of it.
        func admit(_ key: String) { _ = value(key) }

        /// Tells that the key means nothing here, if it is there.
        func refuse(_ key: String, _ reason: String) {
            if value(key) != nil { wrong(.needless(reason), key) }
        }
    }
}

extension ConfigurationText.Value {
    /// What it is, for whoever wrote something else.
    var words: String {
        switch self {
        case .text(let text): "the text \"\(text.prefix(40))\""
        case .integer(let integer): "\(integer)"
        case .number(let number): plain(number)
        case .boolean(let boolean): "\(boolean)"
        case .other(let what): what
        }
    }
}

/// As a person writes it: 0.5, and 4 rather than 4.0.
private func plain(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
}
