/// A key of a mapping, with the shape of its value.
struct Key<Value: Sendable>: Sendable {
    let name: String
    let shape: Shape<Value>
    let summary: String

    init(_ name: String, _ shape: Shape<Value>, _ summary: String) {
        self.name = name
        self.shape = shape
        self.summary = summary
    }

    /// The key in a mapping that requires it.
    var needed: KeyForm { form(isNeeded: true) }
    /// The key in a mapping that does not require it.
    var optional: KeyForm { form(isNeeded: false) }

    private func form(isNeeded: Bool) -> KeyForm {
        KeyForm(name: name, form: shape.form, summary: summary, isNeeded: isNeeded) { [shape, name] reader, tree in
            _ = shape.read(&reader, tree, name)
        }
    }
}

/// The form of a mapping, with its reader.
struct Mapping<Value: Sendable>: Sendable {
    let form: MappingForm
    let read: @Sendable (inout RuleReader, YAMLTree) -> Value?

    /// - Parameter read: reads the mapping; after a mistake it reports the mistake and returns nil.
    init(form: MappingForm, read: @escaping @Sendable (inout RuleReader, YAMLTree) -> Value?) {
        self.form = form
        self.read = read
    }

    private init(form: MappingForm, build: @escaping @Sendable (inout RuleReader, Fields) -> Value?) {
        self.init(form: form) { reader, tree in
            reader.fields(tree, of: form).flatMap { build(&reader, $0) }
        }
    }

    /// Creates a mapping without variants.
    init(
        _ id: String, _ what: String, _ summary: String, example: String, keys: [KeyForm],
        build: @escaping @Sendable (inout RuleReader, Fields) -> Value?
    ) {
        self.init(
            form: MappingForm(id: id, what: what, summary: summary, example: example, keys: keys), build: build)
    }
}

/// A variant of a mapping: the key that selects it, its other keys, and the function that builds the value.
struct Variant<Value: Sendable>: Sendable {
    let form: VariantForm
    let keys: [KeyForm]
    let build: @Sendable (inout RuleReader, Fields) -> Value?

    init<Head>(
        _ head: Key<Head>, needs: [KeyForm] = [], takes: [KeyForm] = [],
        build: @escaping @Sendable (inout RuleReader, Fields, Head) -> Value?
    ) {
        form = VariantForm(head: head.name, needs: needs.map(\.name), takes: takes.map(\.name))
        keys = (needs + [head.optional] + takes).map { key in
            // The key is required for this variant, not for the mapping.
            var key = key
            key.isNeeded = false
            return key
        }
        self.build = { reader, fields in
            if let value = reader.value(head, fields) { return build(&reader, fields, value) }
            // Check the other keys too, so that one run reports all mistakes.
            for key in needs + takes { if let entry = fields.entries[key.name] { key.check(&reader, entry.value) } }
            return nil
        }
    }
}

extension Mapping {
    /// Creates a mapping that has exactly one of several variants.
    init(
        _ id: String, _ what: String, _ summary: String, example: String, conflictHint: String,
        oneOf variants: [Variant<Value>]
    ) {
        self.init(id, what, summary, example: example, variants, conflictHint: conflictHint) { reader, fields in
            variants.first { $0.form.head == fields.heads.first }?.build(&reader, fields)
        }
    }

    /// Creates a mapping that has one or more variants. Each becomes an element, in the order of the file.
    init<Element>(
        _ id: String, _ what: String, _ summary: String, example: String, anyOf variants: [Variant<Element>]
    ) where Value == [Element] {
        self.init(id, what, summary, example: example, variants, conflictHint: nil) { reader, fields in
            var elements: [Element] = []
            for head in fields.heads {
                guard let variant = variants.first(where: { $0.form.head == head }),
                    let element = variant.build(&reader, fields.about(head))
                else { continue }
                elements.append(element)
            }
            return elements
        }
    }

    private init<Element>(
        _ id: String, _ what: String, _ summary: String, example: String, _ variants: [Variant<Element>],
        conflictHint: String?, build: @escaping @Sendable (inout RuleReader, Fields) -> Value?
    ) {
        var keys: [KeyForm] = []
        for key in variants.flatMap(\.keys) where !keys.contains(where: { $0.name == key.name }) { keys.append(key) }
        self.init(
            form: MappingForm(
                id: id, what: what, summary: summary, example: example, keys: keys, variants: variants.map(\.form),
                isTogether: conflictHint == nil, conflictHint: conflictHint ?? ""),
            build: build)
    }
}

/// The entries of a mapping, after their keys have been checked.
struct Fields {
    let tree: YAMLTree
    var entries: [String: YAMLTree.Entry]
    /// The keys that select variants, in the order of the file.
    var heads: [String]
    /// The place for messages: the start of the mapping, or the key of a variant if there are several.
    var place: Place

    /// Returns the fields for one of several variants.
    func about(_ head: String) -> Fields {
        var fields = self
        if heads.count > 1, let entry = entries[head] { fields.place = entry.place }
        fields.heads = [head]
        return fields
    }

    func has<Value>(_ key: Key<Value>) -> Bool { entries[key.name] != nil }
}
