import Automation

extension RuleReader {
    /// One action: `turn on: NAME`, `turn off: [NAME, NAME]`, `toggle: NAME`, `dim: { plug: NAME, to: 30 %, over: 2 s }`
    mutating func action(_ tree: YAMLTree) -> RuleAction? {
        let known = ["turn on", "turn off", "toggle", "dim"]
        guard let fields = fields(tree, of: "an action", known: known) else { return nil }
        guard case .mapping(let entries) = tree.value, let first = entries.first else {
            report(tree.place, "an action is missing", hint: "known here: \(known.joined(separator: ", "))")
            return nil
        }
        if entries.count > 1 {
            report(
                entries[1].place, "'\(entries[1].key)' stands in the same entry as '\(first.key)'",
                hint: "begin each action with '- '")
        }
        guard let value = fields[first.key] else { return nil }
        switch first.key {
        case "turn on": return .turnOn(plugs(value, of: "turn on"))
        case "turn off": return .turnOff(plugs(value, of: "turn off"))
        case "toggle": return .toggle(plugs(value, of: "toggle"))
        case _: return dim(value)
        }
    }

    private mutating func dim(_ tree: YAMLTree) -> RuleAction? {
        guard let fields = fields(tree, of: "'dim'", known: ["plug", "to", "over"], required: ["plug", "to"]) else {
            return nil
        }
        let plugs = fields["plug"].map { self.plugs($0, of: "plug") }
        let level = fields["to"].flatMap { quantity($0, of: "to", read: Quantity.level) }
        let transition = fields["over"].flatMap { quantity($0, of: "over", read: Quantity.transition) }
        guard let plugs, let level else { return nil }
        return .dim(plugs, to: level, over: transition ?? .zero)
    }
}
