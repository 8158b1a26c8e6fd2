import ProtocolCore

extension RuleReader {
    mutating func value<Value>(_ key: Key<Value>, _ fields: Fields) -> Value? {
        fields.entries[key.name].flatMap { key.shape.read(&self, $0.value, key.name) }
    }

    /// Returns the entries of a mapping by key. Reports unknown keys, missing keys, and keys that cannot be combined.
    mutating func fields(_ tree: YAMLTree, of form: MappingForm) -> Fields? {
        guard case .mapping(let entries) = tree.value else {
            report(tree.place, "\(form.what) is a mapping, not \(tree.kind)", hint: "write it as \(form.example)")
            return nil
        }
        var fields = Fields(tree: tree, entries: [:], heads: [], place: tree.place)
        for entry in entries {
            guard form.keys.contains(where: { $0.name == entry.key }) else {
                report(
                    entry.place, "'\(entry.key)' is not known in \(form.what)",
                    hint: Self.hint(forUnknown: entry.key, in: form))
                continue
            }
            fields.entries[entry.key] = entry
            if form.variants.contains(where: { $0.head == entry.key }) { fields.heads.append(entry.key) }
        }
        // If the mapping has an unknown key, missing keys are not reported, because the unknown key may be a
        // misspelling of one.
        let isSpelt = fields.entries.count == entries.count
        if isSpelt { reportMissing(form.needed.filter { fields.entries[$0] == nil }, form.what, tree.place) }
        guard !form.variants.isEmpty else { return fields }
        guard !fields.heads.isEmpty else {
            if isSpelt { reportNoHead(fields, form) }
            return nil
        }
        if !form.isTogether, fields.heads.count > 1, let place = fields.entries[fields.heads[1]]?.place {
            report(
                place, "\(form.what) has '\(fields.heads[0])' or '\(fields.heads[1])', not both",
                hint: form.conflictHint)
            return nil
        }
        checkCompanions(fields, form, isSpelt: isSpelt)
        return fields
    }

    /// Checks the keys next to those that select variants.
    private mutating func checkCompanions(_ fields: Fields, _ form: MappingForm, isSpelt: Bool) {
        let present = form.variants.filter { fields.heads.contains($0.head) }
        if isSpelt, let lacking = present.first(where: { !$0.needs.allSatisfy { fields.entries[$0] != nil } }) {
            reportMissing(
                lacking.needs.filter { fields.entries[$0] == nil }, "\(form.what) with '\(lacking.head)'", fields.place)
        }
        for key in form.keys where !key.isNeeded {
            guard let entry = fields.entries[key.name], !present.contains(where: { $0.welcomes(key.name) }) else {
                continue
            }
            let heads = form.variants.filter { ($0.needs + $0.takes).contains(key.name) }.map { "'\($0.head)'" }
            report(
                entry.place, "'\(key.name)' cannot be used with '\(fields.heads[0])'",
                hint: "use it with \(Self.list(heads))")
        }
    }

    private mutating func reportMissing(_ missing: [String], _ what: String, _ place: Place) {
        guard !missing.isEmpty else { return }
        let names = missing.map { "'\($0)'" }.joined(separator: " and ")
        report(place, "\(what) needs \(names)", hint: "add '\(missing[0]): ...'")
    }

    /// Reports a mapping without a variant. The hint lists only the variants that fit the existing keys.
    private mutating func reportNoHead(_ fields: Fields, _ form: MappingForm) {
        let fitting = form.variants.filter { variant in
            fields.entries.keys.allSatisfy { (variant.needs + variant.takes + form.needed).contains($0) }
        }
        let heads = (fitting.isEmpty ? form.variants : fitting).map { "'\($0.head)'" }
        report(fields.place, "\(form.what) needs \(Self.list(heads))", hint: "write \(form.example)")
    }

    /// Returns the words as in `'a', 'b' or 'c'`.
    private static func list(_ words: [String]) -> String {
        words.count < 2
            ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
    }

    private static func hint(forUnknown key: String, in form: MappingForm) -> String {
        if key.first?.isNumber == true { return "use a point as the decimal separator, not a comma" }
        return ForeignWords.hint(key, in: form.id) ?? hint(key, form.keys.map(\.name))
    }
}
