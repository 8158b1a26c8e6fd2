import Yams

extension Fault {
    /// Converts an error of the YAML library to a fault with a place and a hint for the author of the file.
    init(_ error: YamlError, in source: SourceText) {
        let start = Place(line: 1, column: 1)
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
            // The library reports an unclosed quote at the end of the text. The user needs the place of the opening
            // quote.
            let isUnclosed = problem.contains("unexpected end of stream")
            let nearest = isUnclosed ? context?.mark ?? mark : mark
            let place = Place(line: nearest.line, column: nearest.column)
            let within = context.map { " (\($0.text.trimmed) at line \($0.mark.line))" } ?? ""
            self.init(place, "not valid YAML: \(problem)\(within)", hint: Self.hint(problem, at: place, in: source))
        case .composer(_, _, let mark, _):
            // `YAMLTree` resolves the aliases, so the composer reports only a second document.
            self.init(
                Place(line: mark.line, column: mark.column), "a second document begins here",
                hint: "a rule file must be one document; delete the line '---'")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let first = Place(line: context.mark.line, column: context.mark.column)
            let key = duplicates.first ?? ""
            self.init(
                source.repetition(of: key, after: first) ?? first,
                "duplicate key '\(key)', first used at line \(first.line)",
                hint: "use each key once; write several values as a list: [A, B]")
        case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem), .representer(let problem):
            self.init(start, "not readable: \(problem)")
        case .memory:
            self.init(start, "not readable: out of memory")
        case .dataCouldNotBeDecoded:
            self.init(start, "not readable: the text is not UTF-8")
        case .no:
            self.init(start, "not readable")
        }
    }

    private static func hint(_ problem: String, at place: Place, in source: SourceText) -> String? {
        let line = Array(source.line(place.line).unicodeScalars)
        let found = line.indices.contains(place.column - 1) ? line[place.column - 1] : nil
        if found == "\t" || line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
            return "indent with spaces, not with tabs"
        }
        if let found, "@`%".unicodeScalars.contains(found) {
            return "put text that begins with '\(found)' in quotes"
        }
        if problem.contains("mapping values are not allowed") {
            return "check the indentation of the previous line, and quote text that contains ': '"
        }
        if problem.contains("did not find expected ',' or") { return "check for a missing comma or closing bracket" }
        if problem.contains("block end") || problem.contains("expected key") || problem.contains("'-' indicator") {
            return "begin all entries of a list or mapping in the same column"
        }
        if problem.contains("quoted scalar") || problem.contains("end of stream") {
            return "check for a missing closing quote"
        }
        return nil
    }
}

extension String {
    /// The text without spaces and line breaks at both ends.
    var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
