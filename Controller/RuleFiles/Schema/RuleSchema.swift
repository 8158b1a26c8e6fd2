/// The JSON Schema (draft 2020-12) of rule files, for completion and checks in editors. It is generated from the
/// description that the readers use.
///
/// It covers keys, words, combinations of keys and the syntax of quantities, but not the ranges of quantities or the
/// names of plugs. It accepts every file that the readers accept, if the editor reads the file as YAML 1.2.
public enum RuleSchema {
    /// The address of the JSON Schema dialect.
    public static let address = "https://json-schema.org/draft/2020-12/schema"

    /// Returns the schema as JSON, without a final line break. The text is always the same.
    public static func json() -> String {
        var mappings = SchemaMappings()
        let rule = mappings.reference(to: RuleGrammar.rule.form)
        var entries: [(String, JSON)] = [
            ("$schema", .text(address)), ("title", .text("Rules of plugctl")),
            ("description", .text("A list of rules, each with triggers (when), conditions (if) and actions (then).")),
            ("type", .texts(["array", "null"])), ("maxItems", .number(RuleFileLimits.rules)), ("items", rule),
        ]
        entries.append(("$defs", .object(mappings.written.map { ($0.id, $0.schema) })))
        return JSON.object(entries).written()
    }
}

/// The mappings that a schema refers to; each is written once.
private struct SchemaMappings {
    private(set) var written: [(id: String, schema: JSON)] = []
    private var known: Set<String> = []

    mutating func reference(to form: MappingForm) -> JSON {
        if known.insert(form.id).inserted {
            let index = written.count
            // Reserve the mapping's position before those that it refers to: they are written during the next line.
            written.append((form.id, .object([])))
            written[index].schema = schema(of: form)
        }
        return .object([("$ref", .text("#/$defs/\(form.id)"))])
    }

    private mutating func schema(of form: MappingForm) -> JSON {
        var properties: [(String, JSON)] = []
        for key in form.keys { properties.append((key.name, property(key))) }
        var entries: [(String, JSON)] = [
            ("title", .text(form.what)), ("description", .text("\(form.summary)\n\n\(form.example)")),
            ("type", .text("object")), ("additionalProperties", .truth(false)), ("properties", .object(properties)),
        ]
        if !form.needed.isEmpty { entries.append(("required", .texts(form.needed))) }
        guard !form.variants.isEmpty else { return .object(entries) }
        let heads = form.variants.map { JSON.object([("required", .texts([$0.head]))]) }
        entries.append((form.isTogether ? "anyOf" : "oneOf", .list(heads)))
        let needs = form.variants.filter { !$0.needs.isEmpty }
        if !needs.isEmpty {
            entries.append(("dependentRequired", .object(needs.map { ($0.head, .texts($0.needs)) })))
        }
        let companions = form.keys.filter { key in
            !key.isNeeded && !form.variants.contains { $0.head == key.name }
        }
        let dependent = companions.map { key in
            let welcoming = form.variants.filter { ($0.needs + $0.takes).contains(key.name) }
            let heads = welcoming.map { JSON.object([("required", .texts([$0.head]))]) }
            return (key.name, JSON.object([("anyOf", .list(heads))]))
        }
        if !dependent.isEmpty { entries.append(("dependentSchemas", .object(dependent))) }
        return .object(entries)
    }

    private mutating func property(_ key: KeyForm) -> JSON {
        var entries: [(String, JSON)] = [("title", .text(key.name)), ("description", .text(key.summary))]
        guard case .object(let schema) = schema(of: key.form) else { return .object(entries) }
        entries += schema
        return .object(entries)
    }

    private mutating func schema(of form: Form) -> JSON {
        switch form {
        case .text(let text): return Self.schema(of: text)
        case .count(let range):
            return .object([
                ("type", .texts(["integer", "string"])), ("minimum", .number(range.lowerBound)),
                ("maximum", .number(range.upperBound)), ("pattern", .text("^[0-9]+$")),
            ])
        case .words(let words):
            let choices = words.map { JSON.object([("const", .text($0.text)), ("description", .text($0.summary))]) }
            return .object([("oneOf", .list(choices))])
        case .oneOrMore(let form, _):
            let one = schema(of: form)
            return .object([("anyOf", .list([one, list(of: one, 1...RuleFileLimits.entries)]))])
        case .list(let form, _, let count): return list(of: schema(of: form), count)
        case .either(let forms):
            var choices: [JSON] = []
            for form in forms { choices.append(schema(of: form)) }
            return .object([("anyOf", .list(choices))])
        case .mapping(let mapping): return reference(to: mapping())
        }
    }

    private func list(of element: JSON, _ count: ClosedRange<Int>) -> JSON {
        .object([
            ("type", .text("array")), ("items", element), ("minItems", .number(count.lowerBound)),
            ("maxItems", .number(count.upperBound)),
        ])
    }

    private static func schema(of text: TextForm) -> JSON {
        // The readers accept a name such as 7 or true as text, but an editor parses it as a number or a Boolean.
        let isFree = text.most != nil
        var entries: [(String, JSON)] = [("type", isFree ? .texts(["string", "number", "boolean"]) : .text("string"))]
        if let pattern = text.pattern { entries.append(("pattern", .text(pattern))) }
        if let most = text.most { entries.append(("maxLength", .number(most))) }
        entries.append(("examples", .texts(text.examples)))
        return .object(entries)
    }
}
