import ProtocolCore

extension ConfigurationReader {
    /// A table of the file. A method that reads a key returns nil if the key is missing or its value is invalid, so
    /// that the caller uses its default. For an invalid value, the method also records a mistake.
    package struct Table {
        /// The name of the table.
        package let name: String
        /// The values by key.
        package let values: [String: ConfigurationText.Value]
        /// True if the file has the table.
        package let isThere: Bool
        /// The reader of the file.
        package let reader: ConfigurationReader

        /// Returns true if the table has the key.
        package func has(_ key: String) -> Bool { values[key] != nil }

        /// Records a mistake.
        ///
        /// - Parameter line: the line, if it is not the line of the key.
        package func wrong(_ problem: ConfigurationMistake.Problem, _ key: String? = nil, line: Int? = nil) {
            reader.wrong(problem, name, key, line: line)
        }

        private func value(_ key: String, allowed: [String] = []) -> ConfigurationText.Value? {
            reader.ask(for: key, in: name, allowed: allowed)
            return values[key]
        }

        /// Reads a text of 1 to `longest` bytes.
        ///
        /// - Parameter what: the meaning of the text, for the description of a mistake.
        package func text(_ key: String, _ what: String, longest: Int = 255) -> String? {
            guard let value = value(key) else { return nil }
            guard case .text(let text) = value else {
                wrong(.wrongType(expected: "\(what), in quotation marks", found: value.words), key)
                return nil
            }
            guard (1...longest).contains(text.utf8.count) else {
                wrong(.outOfRange(found: "a string of \(text.utf8.count) bytes", allowed: "1 to \(longest) bytes"), key)
                return nil
            }
            return text
        }

        /// Reads a path, which is relative to the directory of the configuration file.
        ///
        /// - Parameter home: the user's home directory, or nil if paths must not begin with `~/`.
        package func path(_ key: String, _ what: String, beside file: String, home: String?) -> String? {
            guard let written = text(key, what) else { return nil }
            if home == nil, written.hasPrefix("~/") {
                wrong(.invalid("a plug has no home directory; write the full path"), key)
            }
            return ConfigurationReader.path(written, beside: file, home: home ?? "")
        }

        /// Reads a text that must be one of the raw values of `Choice`.
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

        /// Reads one of the words of `Choice`, or a list of texts.
        ///
        /// - Parameters:
        ///   - what: the meaning of the list, for the description of a mistake.
        ///   - most: the maximum number of texts.
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

        /// Reads a text, or a list of 1 to `most` texts. A text is returned as a list with one item.
        ///
        /// - Parameters:
        ///   - what: the meaning of a text, for the description of a mistake.
        ///   - most: the maximum number of texts.
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

        /// Reads `true` or `false`.
        package func boolean(_ key: String) -> Bool? {
            guard let value = value(key) else { return nil }
            guard case .boolean(let boolean) = value else {
                wrong(.wrongType(expected: "true or false", found: value.words), key)
                return nil
            }
            return boolean
        }

        /// Reads an integer in a range. `radix`, 10 or 16, is the radix in which a mistake shows the range and the
        /// value.
        package func integer(_ key: String, _ range: ClosedRange<Int>, _ unit: String = "", radix: Int = 10) -> Int? {
            func written(_ number: Int) -> String { (radix == 16 ? "0x" : "") + String(number, radix: radix) }
            let (first, last) = (written(range.lowerBound), written(range.upperBound))
            let allowed = (first == last ? first : "\(first) to \(last)") + (unit.isEmpty ? "" : " \(unit)")
            guard let value = value(key, allowed: [allowed]) else { return nil }
            guard case .integer(let integer) = value else {
                wrong(.wrongType(expected: value.unquoted("an integer"), found: value.words), key)
                return nil
            }
            guard range.contains(integer) else {
                wrong(.outOfRange(found: written(integer), allowed: allowed), key)
                return nil
            }
            return integer
        }

        /// Reads a number in a range.
        ///
        /// - Parameter isOffAtZero: true if 0 is valid too and means off.
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

        /// Registers a key that is valid for this table, without reading it.
        package func admit(_ key: String) { _ = value(key) }

        /// Records a mistake if the key is present, because it has no effect here.
        package func refuse(_ key: String, _ reason: String) {
            if value(key) != nil { wrong(.needless(reason), key) }
        }
    }
}

/// The value of a key that is either a word or a list of texts.
package enum ChoiceOrTexts<Choice> {
    case choice(Choice)
    case texts([ConfigurationText.Item])
}

extension ConfigurationText.Value {
    /// The value or its type, for the description of a mistake.
    package var words: String {
        switch self {
        case .text(let text): "the string \"\(text.prefix(40))\""
        case .integer(let integer): "\(integer)"
        case .number(let number): plain(number)
        case .boolean(let boolean): "\(boolean)"
        case .texts: "an array"
        case .other(let what): what
        }
    }

    /// Appends a hint to the expected type if the value is a number in quotation marks.
    fileprivate func unquoted(_ expected: String) -> String {
        guard case .text(let text) = self, Double(text) != nil else { return expected }
        return expected + ", without quotation marks"
    }
}

/// Formats a number without a trailing ".0": 0.5, and 4 instead of 4.0.
package func plain(_ number: Double) -> String {
    Int(exactly: number).map { "\($0)" } ?? "\(number)"
}
