public import ConfigurationFiles

/// A file of named numbers without tables.
public enum NumberFile {
    /// Parses a TOML file whose values are all numbers.
    ///
    /// - Throws: all errors of the file with their lines.
    public static func parse(_ text: String, file: String) throws(ConfigurationError) -> [String: Double] {
        let known: ConfigurationText
        do throws(ConfigurationMistake) {
            known = try ConfigurationText(text)
        } catch {
            throw ConfigurationError(file: file, mistakes: [error])
        }
        var numbers: [String: Double] = [:]
        var mistakes: [ConfigurationMistake] = []
        for (key, value) in known.loose {
            switch value {
            case .integer(let integer): numbers[key] = Double(integer)
            case .number(let number): numbers[key] = number
            case .text, .boolean, .texts, .other:
                mistakes.append(
                    ConfigurationMistake(
                        .wrongType(expected: "a number", found: value.words), key: key, line: known.line(nil, key)))
            }
        }
        for table in known.tables.keys {
            mistakes.append(
                ConfigurationMistake(.needless("this file has no tables"), table: table, line: known.line(table)))
        }
        guard mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: mistakes) }
        return numbers
    }
}
