/// The form of a value in a rule file, as data. The readers, the JSON Schema and the tests use the same description.
indirect enum Form: Sendable {
    case text(TextForm)
    /// A whole number in the range.
    case count(ClosedRange<Int>)
    /// One of a few words.
    case words([Word])
    /// One value, or a list of at most ``RuleFileLimits/entries`` values. `of`: the plural noun in messages.
    case oneOrMore(Form, of: String)
    /// A list whose number of values is in the range `count`. `of`: the plural noun in messages.
    case list(Form, of: String, count: ClosedRange<Int>)
    /// Alternatives, each of a different kind: a single value, a list or a mapping.
    case either([Form])
    /// A mapping. The closure allows recursion: a condition can contain conditions.
    case mapping(@Sendable () -> MappingForm)
}

/// A single value that is not from a fixed set of words.
struct TextForm: Sendable {
    /// A regular expression (ECMA-262) that matches every value that the reader accepts. It may match more. Nil allows
    /// any text.
    var pattern: String?
    /// The maximum number of bytes in UTF-8, and therefore also of characters. Nil for no limit.
    var most: Int?
    /// At least one example, each of which the reader accepts.
    var examples: [String]
}

struct Word: Sendable {
    var text: String
    /// The meaning, for users.
    var summary: String
}

/// A mapping: its keys, and the combinations of keys that are allowed.
struct MappingForm: Sendable {
    /// The unique name of its definition in the schema.
    var id: String
    /// Its name in messages: `a trigger`, `'active power'`.
    var what: String
    var summary: String
    /// An example of the whole mapping, in braces.
    var example: String
    var keys: [KeyForm]
    /// The alternatives, each with a key that selects it. If the list is empty, the mapping has only one meaning.
    var variants: [VariantForm] = []
    /// True if one mapping may contain several variants; it then means all of these variants.
    var isTogether = false
    /// The hint for a mapping with two variants that exclude each other.
    var conflictHint = ""

    var needed: [String] { keys.filter(\.isNeeded).map(\.name) }
    func key(_ name: String) -> KeyForm? { keys.first { $0.name == name } }
}

struct KeyForm: Sendable {
    var name: String
    var form: Form
    var summary: String
    /// True if every mapping of this form must have the key.
    var isNeeded = false
    /// Reads the value only to report its mistakes.
    var check: @Sendable (inout RuleReader, YAMLTree) -> Void
}

/// A variant: the key that selects it, and the names of the keys that it requires and allows.
struct VariantForm: Sendable {
    var head: String
    var needs: [String]
    var takes: [String]

    /// Returns true if a mapping of this variant may contain the key.
    func welcomes(_ key: String) -> Bool { head == key || needs.contains(key) || takes.contains(key) }
}

extension Form {
    /// The kind of value, for messages: the text after "must be".
    var kind: String {
        switch self {
        case .text, .count, .words: "a single value"
        case .oneOrMore(let form, let what):
            form.kind == "a mapping" ? "a mapping or a list of \(what)" : "one or a list of \(what)"
        case .list(_, let what, let count):
            count.lowerBound == count.upperBound ? "a list of \(count.lowerBound) \(what)" : "a list of \(what)"
        case .either(let forms): forms.map(\.kind).joined(separator: ", or ")
        case .mapping: "a mapping"
        }
    }

    /// An example of a value, as one line of YAML.
    var example: String {
        switch self {
        case .text(let text): text.examples[0]
        case .count(let range): "\(Swift.min(range.lowerBound + 4, range.upperBound))"
        case .words(let words): words[0].text
        case .oneOrMore(let form, _): form.example
        case .list(let form, _, let count):
            "[" + Array(repeating: form.example, count: max(1, count.lowerBound)).joined(separator: ", ") + "]"
        case .either(let forms): forms[0].example
        case .mapping(let mapping): mapping().example
        }
    }
}
