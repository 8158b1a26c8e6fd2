/// What a value of a rule file looks like, as data: the readers, the JSON Schema and the tests all ask the same.
indirect enum Form: Sendable {
    case text(TextForm)
    /// A whole number.
    case count(ClosedRange<Int>)
    /// One of a few words.
    case words([Word])
    /// One value, or a list of at most ``RuleFileLimits/entries``. `of`: what they are called together.
    case oneOrMore(Form, of: String)
    /// A list of so many.
    case list(Form, of: String, count: ClosedRange<Int>)
    /// Told apart by what they are: a single value, a list, a mapping. No two of a kind.
    case either([Form])
    /// Asked for when it is needed, as a condition can hold conditions.
    case mapping(@Sendable () -> MappingForm)
}

/// A single value that is no word of a table.
struct TextForm: Sendable {
    /// Regular expression of ECMA-262 that everything fits that a reader takes; it may let pass more.
    var pattern: String?
    /// Bytes of UTF-8, and so characters too.
    var most: Int?
    /// At least one, each of which is taken.
    var examples: [String]
}

struct Word: Sendable {
    var text: String
    /// What it means, for a person.
    var summary: String
}

/// A mapping: its keys, and which of them go together.
struct MappingForm: Sendable {
    /// What the schema calls it; no two mappings share it.
    var id: String
    /// What messages call it: `a trigger`, `'active power'`.
    var what: String
    var summary: String
    /// Of a whole mapping, in braces.
    var example: String
    var keys: [KeyForm]
    /// Keys that say what the mapping is about; none of them: the mapping is about one thing.
    var variants: [VariantForm] = []
    /// Whether several of the variants may stand in one mapping, which then means all of them.
    var isTogether = false
    /// What to do where two stand together that may not.
    var conflictHint = ""

    var needed: [String] { keys.filter(\.isNeeded).map(\.name) }
    func key(_ name: String) -> KeyForm? { keys.first { $0.name == name } }
}

struct KeyForm: Sendable {
    var name: String
    var form: Form
    var summary: String
    /// In every mapping of its kind.
    var isNeeded = false
    /// Reads the value only to report what is wrong with it.
    var check: @Sendable (inout RuleReader, YAMLTree) -> Void
}

/// A key that decides what its mapping is about, with the names of the keys that must and that may stand beside it.
struct VariantForm: Sendable {
    var head: String
    var needs: [String]
    var takes: [String]

    /// Whether the key may stand in its mapping.
    func welcomes(_ key: String) -> Bool { head == key || needs.contains(key) || takes.contains(key) }
}

extension Form {
    /// What messages call it, behind "is".
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

    /// A value of this kind as YAML has it in one line.
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
