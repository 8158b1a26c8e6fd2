import Automation

extension RuleReader {
    /// `{ time: { after: "17:00", before: "02:00" } }` and `{ plug: NAME, relay: on }`, alone or together.
    mutating func conditions(_ tree: YAMLTree) -> [Condition] {
        guard let fields = fields(tree, of: "a condition", known: ["time", "plug", "relay"]) else { return [] }
        var conditions: [Condition] = []
        if let time = fields["time"], let window = window(time) { conditions.append(.time(window)) }
        let plug = fields["plug"].map { name($0, of: "plug") }
        let on = fields["relay"].map { choice($0, of: "relay", among: [("on", true), ("off", false)]) }
        switch (plug, on) {
        case (let plug?, let on?):
            if let plug, let on { conditions.append(.relay(plug: plug, on: on)) }
        case (nil, nil):
            if tree.keys.isEmpty {
                report(
                    tree.place, "a condition needs 'time', or 'plug' and 'relay'", hint: "delete 'if' if there is none")
            }
        case (_?, nil), (nil, _?):
            if tree.keys.allSatisfy({ fields[$0] != nil }) {
                report(
                    tree.place, "a condition on a plug needs 'plug' and 'relay'",
                    hint: "write { plug: Amplifier, relay: on }")
            }
        }
        return conditions
    }

    private mutating func window(_ tree: YAMLTree) -> DailyWindow? {
        guard let fields = fields(tree, of: "'time'", known: ["after", "before"]) else { return nil }
        let after = fields["after"].map { quantity($0, of: "after", read: Quantity.timeOfDay) } ?? .midnight
        let before = fields["before"].map { quantity($0, of: "before", read: Quantity.timeOfDay) } ?? .endOfDay
        guard let after, let before else { return nil }
        if tree.keys.isEmpty {
            report(
                tree.place, "'time' needs 'after' or 'before'", hint: "write { after: \"17:00\", before: \"02:00\" }")
            return nil
        }
        if after == before {
            report(
                tree.place, "'after' and 'before' are the same time",
                hint: "delete 'time' if the rule is for the whole day")
            return nil
        }
        return DailyWindow(after: after, before: before)
    }
}
