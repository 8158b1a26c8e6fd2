import Testing

@testable import RuleFiles

@Suite("The grammar's description and the readers agree")
struct GrammarTests {
    private static let samples = GrammarSamples()

    @Test("Every key with every word and example of the description is accepted")
    func described() {
        #expect(Self.samples.right.count > 500)
        for sample in Self.samples.right {
            #expect(throws: Never.self, "\(sample.what): \(sample.text)") {
                try RuleFile(name: "f", text: sample.text)
            }
        }
    }

    @Test("A key that is not in the description is rejected in every mapping")
    func undescribed() {
        #expect(Self.samples.wrong.count > 80)
        for sample in Self.samples.wrong {
            do {
                _ = try RuleFile(name: "f", text: sample.text)
                Issue.record("a file with an unknown key was accepted: \(sample.text)")
            } catch {
                let message = "'\(GrammarSamples.unknownKey)' is not known in"
                #expect(error.diagnostics.contains { $0.message.hasPrefix(message) }, "\(sample.text): \(error)")
            }
        }
    }

    /// All mappings of the grammar, without duplicates.
    private static let mappings: [MappingForm] = {
        var found: [MappingForm] = []
        func visit(_ form: Form) {
            switch form {
            case .text, .count, .words: break
            case .oneOrMore(let form, _), .list(let form, _, _): visit(form)
            case .either(let forms): for form in forms { visit(form) }
            case .mapping(let mapping): visit(mapping())
            }
        }
        func visit(_ mapping: MappingForm) {
            guard !found.contains(where: { $0.id == mapping.id }) else { return }
            found.append(mapping)
            for key in mapping.keys { visit(key.form) }
        }
        visit(RuleGrammar.rule.form)
        return found
    }()

    @Test("The keys of variants exist, and a key that selects a variant is not required in general")
    func variants() {
        for mapping in Self.mappings {
            let names = Set(mapping.keys.map(\.name))
            #expect(names.count == mapping.keys.count, "\(mapping.id) has a duplicate key")
            for variant in mapping.variants {
                #expect(names.isSuperset(of: [variant.head] + variant.needs + variant.takes), "\(mapping.id)")
                #expect(mapping.key(variant.head)?.isNeeded == false, "\(mapping.id)/\(variant.head)")
            }
            for key in mapping.keys { #expect(!key.summary.isEmpty, "\(mapping.id)/\(key.name)") }
        }
    }

    @Test("Each hint for a key of another system belongs to an existing mapping that does not have this key")
    func foreignWords() {
        for (id, words) in ForeignWords.all {
            let mapping = Self.mappings.first { $0.id == id }
            #expect(mapping != nil, "\(id)")
            for word in words { #expect(mapping?.key(word) == nil, "\(id)/\(word)") }
        }
    }

    @Test("The schema is always the same text, and contains every mapping, key and word")
    func schema() {
        let schema = RuleSchema.json()
        #expect(schema == RuleSchema.json())
        for mapping in Self.mappings {
            #expect(schema.contains("\n    \"\(mapping.id)\": {"), "\(mapping.id)")
            for key in mapping.keys { #expect(schema.contains("\"title\": \"\(key.name)\"")) }
        }
        #expect(schema.contains("\"const\": \"weldedRelay\"") && schema.contains("\"maxItems\": 1000"))
    }
}
