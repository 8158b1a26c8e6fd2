import ProtocolCore

extension ConfigurationReader {
    /// One table of the file. Each key is asked for once; one that is wrong is told, and its default taken.
    package struct Table {
        package let name: String
        package let values: [String: ConfigurationText.Value]
        package let isThere: Bool
        package let reader: ConfigurationReader

        package func has(_ key: String) -> Bool { values[key] != nil }

        /// - Parameter line: where it is not that of the key.
        package func wrong(_ problem: ConfigurationMistake.Problem, _ key: String? = nil, line: Int? = nil) {
            reader.wrong(problem, name, key, line: line)
        }

        private func value(_ key: String, allowed: [String] = []) -> ConfigurationText.Value? {
            reader.ask(for: key, in: name, allowed: allowed)
            return values[key]
        }

        /// - Parameter what: what the text is, for whoever wrote something else.
        package func text(_ key: String, _ what: String, longest: Int = 255) -> String? {
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

        package func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, _: Choice.Type = Choice.self)
            -> Choice?
        where Choice.RawValue == String {
            let all = Choice.allCases.map(\.rawValue)
            guard let value = value(key, allowed: all.map { "\"\($0)\"" }) else { return nil }
            guard case .text(let text) = value else {
                wrong(.wrongType(expected: all.map { "\"\($0)\"" }.joined(separator: " or "), found: value.words), key)
                return nil
            }
            guard let choice = Choice(rawValue: text) else {
                let nearest = Suggestion.nearest(to: text, among: all)
                wrong(.notOneOf(found: text, allowed: all, nearest: nearest), key)
                return nil
            }
            return choice
        }

        /// One of the words, or a list of texts.
        ///
        /// - Parameters:
        ///   - what: what stands in the list, for whoever wrote something else.
        ///   - most: texts in a list.
        package func choiceOrTexts<Choice: RawRepresentable & CaseIterable>(
            _ key: String, _ what: String, most: Int, _: Choice.Type = Choice.self
        ) -> ChoiceOrTexts<Choice>? where Choice.RawValue == String {
            let words = Choice.allCases.map { "\"\($0.rawValue)\"" }
            let expected = words.joined(separator: ", ") + " or \(what)"
            guard let value = value(key, allowed: words + [what]) else { return nil }
            switch value {
            case .text(let text):
                if let choice = Choice(rawValue: text) { return .choice(choice) }
                wrong(.wrongType(expected: expected, found: value.words), key)
            case .texts(let items):
                if items.count <= most { return .texts(items) }
                wrong(.outOfRange(found: "a list of \(items.count)", allowed: "at most \(most)"), key)
            case .integer, .number, .boolean, .other:
                wrong(.wrongType(expected: expected, found: value.words), key)
            }
            return nil
        }

        /// One text, or a list of them.
        ///
        /// - Parameters:
        ///   - what: what each text is, for whoever wrote something else.
        ///   - most: texts in a list.
        package func texts(_ key: String, _ what: String, most: Int) -> [ConfigurationText.Item]? {
            guard let value = value(key) else { return nil }
            switch value {
            case .text(let text): return [ConfigurationText.Item(text: text, line: reader.text.line(name, key) ?? 1)]
            case .texts(let items) where (1...most).contains(items.count): return items
            case .texts(let items): wrong(.outOfRange(found: "a list of \(items.count)", allowed: "1 to \(most)"), key)
            case .integer, .number, .boolean, .other:
                wrong(.wrongType(expected: "\(what), in quotation marks, or a list", found: value.words), key)
            }
            return nil
        }

        package func boolean(_ key: String) -> Bool? {
            guard let value = value(key) else { return nil }
            guard case .boolean(let boolean) = value else {
                wrong(.wrongType(expected: "true or false", found: value.words), key)
                return nil
            }
            return boolean
        }

        package func integer(_ key: String, _ range: ClosedRange<Int>, _ unit: String = "", radix: Int = 10) -> Int? {
            func written(_ number: Int) -> String { (radix == 16 ? "0x" : "") + String(number, radix: radix) }
            let (first, last) = (written(range.lowerBound), written(range.upperBound))
            let allowed = (first == last ? first : "\(first) to \(last)") + (unit.isEmpty ? "" : " \(unit)")
            guard let value = value(key, allowed: [allowed]) else { return nil }
            guard case .integer(let integer) = value else {
                wrong(.wrongType(expected: value.unquoted("a whole number"), found: value.words), key)
                return nil
            }
            guard range.contains(integer) else {
                wrong(.outOfRange(found: written(integer), allowed: allowed), key)
                return nil
            }
            return integer
        }

        /// - Parameter isOffAtZero: 0 is taken too, and turns it off.
        package func number(
            _ key: String, _ range: ClosedRange<Double>, _ unit: String = "", isOffAtZero: Bool = false
        ) -> Double? {
            let allowed =
                "\(plain(range.lowerBound)) to \(plain(range.upperBound))" + (unit.isEmpty ? "" : " \(unit)")
                + (isOffAtZero ? ", or 0 for off" : "")
            guard let value = value(key, allowed: [allowed]) else { return nil }
            let number: Double
            switch value {
            case .integer(let integer): number = Double(integer)
            case .number(let known): number = known
            case .text, .boolean, .texts, .other:
                wrong(.wrongType(expected: value.unquoted("a number"), found: value.words), key)
                return nil
            }
            guard range.contains(number) || isOffAtZero && number == 0 else {
                wrong(.outOfRange(found: plain(number), allowed: allowed), key)
                return nil
            }
            return number
        }

        /// The key is one of this table's, and nothing more can be said of it.
        package func admit(_ key: String) { _ = value(key) }

        /// Tells that the key means nothing here, if it is there.
        package func refuse(_ key: String, _ reason: String) {
            if value(key) != nil { wrong(.needless(reason), key) }
        }
    }
}

/// What a key says that takes a word or a list.
package enum ChoiceOrTexts<Choice> {
    case choice(Choice)
    case texts([ConfigurationText.Item])
}

extension ConfigurationText.Value {
    /// What it is, for whoever wrote something else.
    package var words: String {
        switch self {
        case .text(let text): "the text \"\(text.prefix(40))\""
        case .integer(let integer): "\(integer)"
        case .number(let number): plain(number)
        case .boolean(let boolean): "\(boolean)"
        case .texts: "an array"
        case .other(let what): what
        }
    }

    /// What is expected instead of this one, where only the quotation marks are too many.
    fileprivate func unquoted(_ expected: String) -> String {
        guard case .text(let text) = self, Double(text) != nil else { return expected }
        return expected + ", without quotation marks"
    }
}

/// As a person writes it: 0.5, and 4 rather than 4.0.
package func plain(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
}
