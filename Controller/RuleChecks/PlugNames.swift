import ProtocolCore
import RuleModel

extension RuleInspection {
    /// Finds names of unknown plugs, rules and machines.
    func names(_ index: Int) -> [RuleFinding] {
        let rule = rules[index]
        var findings: [RuleFinding] = rule.placedPlugs.compactMap { part, plug in
            switch house.find(plug) {
            case .plug, .untold: return nil
            case .ambiguous(let names):
                return RuleFinding(
                    .error, rule: index, part, word: plug, "the name \"\(plug)\" matches several plugs",
                    hint:
                        "write upper and lower case exactly as in one of these names: \(names.joined(separator: ", "))")
            case .unknown:
                return RuleFinding(
                    .error, rule: index, part, word: plug, "no plug is called \"\(plug)\"", hint: plugHint(plug))
            }
        }
        for (place, trigger) in rule.triggers.enumerated() {
            guard case .rule(let other) = trigger, !names.contains(other) else { continue }
            let nearest = nearest(to: other, among: rules.map(\.name).filter { $0 != rule.name })
            findings.append(
                RuleFinding(
                    .error, rule: index, .trigger(place), word: other, "no rule is called \"\(other)\"",
                    hint: nearest.map { "did you mean \"\($0)\"?" }
                        ?? "check this file together with the file that contains the rule"))
        }
        return findings + machineNames(index)
    }

    /// Finds names of unknown machines. They are only warnings, because a machine becomes known when it sleeps for the
    /// first time.
    private func machineNames(_ index: Int) -> [RuleFinding] {
        guard let machines else { return [] }
        return rules[index].actions.enumerated().compactMap { place, action in
            guard case .wake(let name) = action,
                !machines.contains(where: { $0.lowercased() == name.lowercased() })
            else { return nil }
            return RuleFinding(
                .warning, rule: index, .action(place), word: name, "no machine is called \"\(name)\"",
                hint: nearest(to: name, among: machines).map { "did you mean \"\($0)\"?" }
                    ?? "add it to machines.toml, or let it sleep at the sleep proxy of a plug; see plugctl help wake")
        }
    }

    /// Returns the known name that is most similar to the word; nil if no name is similar or the work limit is reached.
    /// A comparison of names with 63 characters takes a few thousand operations.
    private func nearest(to word: String, among known: [String]) -> String? {
        work.spend(known.count * word.utf8.count * 8)
        return work.isSpent ? nil : Suggestion.nearest(to: word, among: known)
    }

    private func plugHint(_ written: String) -> String {
        let names = (house.plugs ?? []).map(\.name)
        if let nearest = nearest(to: written, among: names) { return "did you mean \"\(nearest)\"?" }
        // Users do not read a longer list.
        let shown = names.sorted().prefix(8).joined(separator: ", ")
        return names.isEmpty
            ? "no plug is known yet; `plugctl browse` lists the plugs on the network"
            : "known plugs: \(shown)\(names.count > 8 ? ", ..." : "")"
    }

    /// Finds rules with the same name or the same content. The reader of a file already reports equal names in that
    /// file.
    func twins() -> [RuleFinding] {
        var findings: [RuleFinding] = []
        var firsts: [String: Int] = [:]
        var contents: [Rule: Int] = [:]
        for (index, rule) in rules.enumerated() {
            if firsts[rule.name] != nil {
                findings.append(
                    RuleFinding(
                        .error, rule: index, .name, word: rule.name, "duplicate rule name \"\(rule.name)\"",
                        hint: "rename one of the rules; logs and commands identify rules by name"))
                continue
            }
            firsts[rule.name] = index
            var nameless = rule
            nameless.name = ""
            if let first = contents[nameless] {
                findings.append(
                    RuleFinding(
                        .warning, rule: index, .name, word: rule.name, "it does the same as \"\(rules[first].name)\"",
                        hint: "delete one of the rules; otherwise each action runs twice"))
            } else {
                contents[nameless] = index
            }
        }
        return findings
    }
}
