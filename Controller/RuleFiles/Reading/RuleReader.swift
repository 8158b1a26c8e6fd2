import ProtocolCore

/// Reads rules from a YAML tree. It continues after a mistake, so that one run reports all mistakes.
struct RuleReader {
    private(set) var faults: [Fault] = []
    private var known: Set<Fault> = []

    /// Records a mistake once, even if a value is read several times because several parts of a mapping use it.
    mutating func report(_ fault: Fault) {
        if known.insert(fault).inserted { faults.append(fault) }
    }

    mutating func report(_ place: Place, _ message: String, hint: String? = nil) {
        report(Fault(place, message, hint: hint))
    }

    mutating func rules(of root: YAMLTree) -> [PlacedRule] {
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
            guard let placed = RuleGrammar.rule.read(&self, element) else { return nil }
            let place = placed.places.name
            if let first = lines.updateValue(place.line, forKey: placed.rule.name) {
                report(
                    place, "duplicate rule name '\(placed.rule.name)', first used at line \(first)",
                    hint: "choose a different name; logs and commands identify rules by name")
            }
            return placed
        }
    }
}

// MARK: - Helpers for all kinds of values

extension RuleReader {
    /// Reads one element, or each element of a list. An element with a mistake is left out.
    mutating func each<Element>(
        _ tree: YAMLTree, of what: String, tooManyHint: String = "split it into several rules",
        read: (inout RuleReader, YAMLTree) -> Element?
    ) -> [Element] {
        guard case .list(let list) = tree.value else { return read(&self, tree).map { [$0] } ?? [] }
        guard !list.isEmpty else {
            report(tree.place, "the list of \(what) is empty", hint: "write at least one entry, each after '- '")
            return []
        }
        guard list.count <= RuleFileLimits.entries else {
            report(
                list[RuleFileLimits.entries].place, "more than \(RuleFileLimits.entries) \(what) in one list",
                hint: tooManyHint)
            return []
        }
        var elements: [Element] = []
        for element in list {
            if let element = read(&self, element) { elements.append(element) }
        }
        return elements
    }

    mutating func reportKind(of tree: YAMLTree, _ key: String, _ form: Form) {
        report(tree.place, "'\(key)' must be \(form.kind), not \(tree.kind)", hint: "write '\(key): \(form.example)'")
    }

    /// Reads a single value; empty only if `isEmptyAllowed`.
    mutating func text(_ tree: YAMLTree, of key: String, most: Int? = nil, isEmptyAllowed: Bool = false) -> String? {
        guard case .scalar(let text) = tree.value else {
            report(tree.place, "'\(key)' must be a single value, not \(tree.kind)", hint: "write '\(key): VALUE'")
            return nil
        }
        guard isEmptyAllowed || !text.isEmpty else {
            report(tree.place, "'\(key)' is empty", hint: "write a value after the colon")
            return nil
        }
        if let most, text.utf8.count > most {
            report(
                tree.place, "'\(key)' may have at most \(most) bytes, but has \(text.utf8.count)",
                hint: "shorten it; non-ASCII characters take two or more bytes")
            return nil
        }
        return text
    }

    /// Reads the name of a plug or a rule.
    mutating func name(_ tree: YAMLTree, of key: String) -> String? {
        guard let text = text(tree, of: key) else { return nil }
        guard text.utf8.count <= RuleFileLimits.nameBytes else {
            report(
                tree.place,
                "a name may have at most \(RuleFileLimits.nameBytes) bytes, but this one has \(text.utf8.count)",
                hint: "shorten it; non-ASCII characters take two or more bytes")
            return nil
        }
        guard text == text.trimmed, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            report(tree.place, "a name must be one line without leading or trailing spaces", hint: "delete them")
            return nil
        }
        // "." and ".." are folders in a URL, so a browser could not request a resource with such a name.
        guard text != ".", text != ".." else {
            report(tree.place, "'\(text)' is not a valid name", hint: "add a letter")
            return nil
        }
        return text
    }

    mutating func quantity<Value>(
        _ tree: YAMLTree, of key: String, read: (String) throws(Mistake) -> Value
    ) -> Value? {
        guard let text = text(tree, of: key) else { return nil }
        do {
            return try read(text)
        } catch {
            report(tree.place, error.message, hint: error.hint)
            return nil
        }
    }

    /// Reads one of several words.
    mutating func choice<Value>(_ tree: YAMLTree, of key: String, among choices: [(String, Value)]) -> Value? {
        guard let text = text(tree, of: key) else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        report(tree.place, "'\(text)' is not a value of '\(key)'", hint: Self.hint(text, choices.map(\.0)))
        return nil
    }

    static func hint(_ word: String, _ known: [String]) -> String {
        Suggestion.nearest(to: word, among: known).map { "did you mean '\($0)'?" }
            ?? "use one of \(known.joined(separator: ", "))"
    }
}

extension YAMLTree {
    /// The kind of the value, for messages.
    var kind: String {
        switch value {
        case .scalar(let text): text.isEmpty ? "empty" : "a single value"
        case .list: "a list"
        case .mapping: "a mapping"
        }
    }

    var isList: Bool {
        if case .list = value { true } else { false }
    }
}
