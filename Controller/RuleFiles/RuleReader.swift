import ProtocolCore
import Automation

/// Reads rules from a tree. What is wrong is reported and reading goes on, so that one run shows every fault.
struct RuleReader {
    private(set) var faults: [Fault] = []

    mutating func report(_ fault: Fault) { faults.append(fault) }

    mutating func report(_ place: Place, _ message: String, hint: String? = nil) {
        faults.append(Fault(place, message, hint: hint))
    }

    mutating func rules(of root: YAMLTree) -> [Rule] {
        guard case .list(let elements) = root.value else {
            if case .scalar(let text) = root.value, text.isEmpty { return [] }
            report(root.place, "a rule file is a list of rules", hint: "begin each rule with '- rule: NAME'")
            return []
        }
        guard elements.count <= RuleFileLimits.rules else {
            report(
                elements[RuleFileLimits.rules].place, "more than \(RuleFileLimits.rules) rules in one file",
                hint: "split it into several files")
            return []
        }
        var lines: [String: Int] = [:]
        return elements.compactMap { element in
            guard let (rule, place) = rule(element) else { return nil }
            if let first = lines.updateValue(place.line, forKey: rule.name) {
                report(
                    place, "the rule '\(rule.name)' is already in line \(first)",
                    hint: "give it another name: it is how logs and commands tell rules apart")
            }
            return rule
        }
    }

    private mutating func rule(_ tree: YAMLTree) -> (Rule, Place)? {
        guard
            let fields = fields(
                tree, of: "a rule", known: ["rule", "when", "if", "then", "cooldown"],
                required: ["rule", "when", "then"])
        else { return nil }
        let name = fields["rule"].flatMap { self.name($0, of: "rule") }
        let triggers = fields["when"].map { each($0, of: "triggers") { $0.trigger($1).map { [$0] } ?? [] } }
        let conditions = fields["if"].map { each($0, of: "conditions") { $0.conditions($1) } }
        let actions = fields["then"].map { each($0, of: "actions") { $0.action($1).map { [$0] } ?? [] } }
        let cooldown = fields["cooldown"].flatMap { quantity($0, of: "cooldown", read: Quantity.duration) }
        guard let name, let place = fields["rule"]?.place, let triggers, let actions else { return nil }
        return (
            Rule(
                name: name, triggers: triggers, conditions: conditions ?? [], actions: actions,
                cooldown: cooldown ?? .zero),
            place
        )
    }
}

// MARK: - Parts that every reader uses

extension RuleReader {
    /// The values of a mapping by their keys. Unknown keys and missing ones are reported; nil where it is no mapping.
    mutating func fields(
        _ tree: YAMLTree, of what: String, known: [String], required: [String] = []
    ) -> [String: YAMLTree]? {
        guard case .mapping(let entries) = tree.value else {
            report(tree.place, "\(what) is a mapping, not \(tree.kind)", hint: "write it as '\(known[0]): ...'")
            return nil
        }
        var fields: [String: YAMLTree] = [:]
        for entry in entries {
            guard known.contains(entry.key) else {
                report(
                    entry.place, "'\(entry.key)' is not known in \(what)",
                    hint: entry.key.first?.isNumber == true
                        ? "is it behind a decimal comma? The decimal sign is a point" : hint(entry.key, known))
                continue
            }
            fields[entry.key] = entry.value
        }
        // Where a key was misspelt, the one it was meant to be is not missed as well.
        let missing = required.filter { fields[$0] == nil }
        if !missing.isEmpty, fields.count == entries.count {
            let names = missing.map { "'\($0)'" }.joined(separator: " and ")
            report(tree.place, "\(what) needs \(names)", hint: "add '\(missing[0]): ...'")
        }
        return fields
    }

    /// One element or a list of them, each read by itself.
    mutating func each<Element>(
        _ tree: YAMLTree, of what: String, read: (inout RuleReader, YAMLTree) -> [Element]
    ) -> [Element] {
        guard case .list(let list) = tree.value else { return read(&self, tree) }
        guard !list.isEmpty else {
            report(tree.place, "the list of \(what) is empty", hint: "write at least one, each behind '- '")
            return []
        }
        guard list.count <= RuleFileLimits.entries else {
            report(
                list[RuleFileLimits.entries].place, "more than \(RuleFileLimits.entries) \(what) in one list",
                hint: "make several rules of it")
            return []
        }
        var elements: [Element] = []
        for element in list { elements += read(&self, element) }
        return elements
    }

    /// Text of a few words.
    mutating func text(_ tree: YAMLTree, of key: String) -> String? {
        guard case .scalar(let text) = tree.value else {
            report(tree.place, "'\(key)' is a single value, not \(tree.kind)", hint: "write '\(key): VALUE'")
            return nil
        }
        guard !text.isEmpty else {
            report(tree.place, "'\(key)' is empty", hint: "write the value behind the colon")
            return nil
        }
        return text
    }

    /// The name of a plug or a rule.
    mutating func name(_ tree: YAMLTree, of key: String) -> String? {
        guard let text = text(tree, of: key) else { return nil }
        guard text.utf8.count <= RuleFileLimits.nameBytes else {
            report(
                tree.place, "a name has at most \(RuleFileLimits.nameBytes) bytes, this one has \(text.utf8.count)",
                hint: "shorten it; letters beyond A to Z take two bytes and more")
            return nil
        }
        guard text == text.trimmed, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            report(tree.place, "a name is one line without spaces at its ends", hint: "delete them")
            return nil
        }
        return text
    }

    /// One plug's name or a list of them.
    mutating func plugs(_ tree: YAMLTree, of key: String) -> [String] {
        if case .mapping = tree.value {
            report(
                tree.place, "'\(key)' is a plug's name or a list of them, not a mapping",
                hint: "write '\(key): [Floor Lamp, Amplifier]'")
            return []
        }
        return each(tree, of: "plugs") { reader, element in reader.name(element, of: key).map { [$0] } ?? [] }
    }

    mutating func quantity<Value>(
        _ tree: YAMLTree, of key: String, read: (String) throws(Quantity.Mistake) -> Value
    ) -> Value? {
        guard let text = text(tree, of: key) else { return nil }
        do {
            return try read(text)
        } catch {
            report(tree.place, error.message, hint: error.hint)
            return nil
        }
    }

    /// One of a few words.
    mutating func choice<Value>(_ tree: YAMLTree, of key: String, among choices: [(String, Value)]) -> Value? {
        guard let text = text(tree, of: key) else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        report(tree.place, "'\(text)' is not known in '\(key)'", hint: hint(text, choices.map(\.0)))
        return nil
    }

    private func hint(_ word: String, _ known: [String]) -> String {
        Suggestion.nearest(to: word, among: known).map { "did you mean '\($0)'?" }
            ?? "known here: \(known.joined(separator: ", "))"
    }
}

extension YAMLTree {
    /// What it is, for a message.
    var kind: String {
        switch value {
        case .scalar(let text): text.isEmpty ? "empty" : "a single value"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }
}
