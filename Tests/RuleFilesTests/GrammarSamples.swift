@testable import RuleFiles

/// Files generated from the description of the grammar: one per key, word and example, and one per possible position of
/// an unknown key.
struct GrammarSamples {
    struct Sample: Sendable {
        /// The key, word or example that the sample tests.
        var what: String
        /// The value as YAML on one line.
        var text: String
    }

    private(set) var right: [Sample] = []
    /// The samples with an unknown key.
    private(set) var wrong: [Sample] = []

    static let unknownKey = "no such key"

    init() {
        let samples = Self.samples(of: RuleGrammar.rule.form, within: [])
        right = samples.right.map { Sample(what: $0.what, text: "[\($0.text)]") }
        wrong = samples.wrong.map { Sample(what: $0.what, text: "[\($0.text)]") }
    }

    private typealias Both = (right: [Sample], wrong: [Sample])

    private static func samples(of form: Form, within: [String]) -> Both {
        switch form {
        case .text(let text): (text.examples.map { Sample(what: $0, text: quoted($0)) }, [])
        case .count(let range): ([range.lowerBound, range.upperBound].map { Sample(what: "\($0)", text: "\($0)") }, [])
        case .words(let words): (words.map { Sample(what: $0.text, text: $0.text) }, [])
        case .oneOrMore(let form, _): each(samples(of: form, within: within)) { [$0, "[\($0), \($0)]"] }
        case .list(let form, _, let count):
            if case .text(let text) = form, count.lowerBound == 2 {
                // A range needs two different values, the lower one first.
                ([Sample(what: "two", text: "[\(text.examples.map(quoted).joined(separator: ", "))]")], [])
            } else {
                each(samples(of: form, within: within)) { one in
                    ["[" + Array(repeating: one, count: count.lowerBound).joined(separator: ", ") + "]"]
                }
            }
        case .either(let forms): joined(forms.map { samples(of: $0, within: within) })
        case .mapping(let mapping): samples(of: mapping(), within: within)
        }
    }

    /// Returns a sample per key and value. Each sample also has the other keys that its key requires. A mapping that is
    /// nested in itself is replaced by its example.
    private static func samples(of mapping: MappingForm, within: [String]) -> Both {
        guard !within.contains(mapping.id) else { return ([Sample(what: mapping.id, text: mapping.example)], []) }
        var both: Both = ([], [])
        for key in mapping.keys {
            let beside = companions(of: key.name, in: mapping).map { name in
                "\(name): \(least(mapping.key(name)!.form))"
            }
            let values = samples(of: key.form, within: within + [mapping.id])
            func whole(_ value: String) -> String {
                "{ " + (beside + ["\(key.name): \(value)"]).joined(separator: ", ") + " }"
            }
            both.right += values.right.map {
                Sample(what: "\(mapping.id)/\(key.name): \($0.what)", text: whole($0.text))
            }
            both.wrong += values.wrong.map { Sample(what: $0.what, text: whole($0.text)) }
            if let first = values.right.first {
                let text = whole(first.text).dropLast(2) + ", \(unknownKey): 1 }"
                both.wrong.append(Sample(what: "\(mapping.id)/\(key.name)", text: String(text)))
            }
        }
        return both
    }

    /// Returns the other keys that a mapping with this key requires.
    private static func companions(of key: String, in mapping: MappingForm) -> [String] {
        var names = mapping.needed
        if !mapping.variants.isEmpty {
            let variant =
                mapping.variants.first { $0.head == key }
                ?? mapping.variants.first { ($0.needs + $0.takes).contains(key) }
            names += variant.map { [$0.head] + $0.needs } ?? []
        }
        return names.filter { $0 != key }
    }

    /// Returns a valid value of the form.
    private static func least(_ form: Form) -> String {
        switch form {
        case .text(let text): quoted(text.examples[0])
        case .list(.text(let text), _, let count) where count.lowerBound == 2:
            "[" + text.examples.map(quoted).joined(separator: ", ") + "]"
        case .either(let forms): least(forms[0])
        case .oneOrMore(let form, _): least(form)
        case .count, .words, .list, .mapping: form.example
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func each(_ both: Both, _ body: (String) -> [String]) -> Both {
        (
            both.right.flatMap { sample in body(sample.text).map { Sample(what: sample.what, text: $0) } },
            both.wrong.map { Sample(what: $0.what, text: body($0.text)[0]) }
        )
    }

    private static func joined(_ parts: [Both]) -> Both {
        (parts.flatMap(\.right), parts.flatMap(\.wrong))
    }
}
