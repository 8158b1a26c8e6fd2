import Automation
import PlugProtocol

extension RuleReader {
    /// `{ plug: NAME, active power: ... }` or `{ plug: NAME, button: ... }`
    mutating func trigger(_ tree: YAMLTree) -> Trigger? {
        guard
            let fields = fields(
                tree, of: "a trigger", known: ["plug", "active power", "button"], required: ["plug"])
        else { return nil }
        let plug = fields["plug"].flatMap { name($0, of: "plug") }
        switch (fields["active power"], fields["button"]) {
        case (let power?, nil):
            guard let threshold = threshold(power), let plug else { return nil }
            return .activePower(plug: plug, threshold)
        case (nil, let button?):
            let presses: [(String, ButtonPress)] = [
                ("pressed", .single), ("single", .single), ("double", .double), ("long", .long),
            ]
            guard let press = choice(button, of: "button", among: presses), let plug else { return nil }
            return .button(plug: plug, press)
        case (nil, nil):
            // A misspelt key has been reported already.
            if tree.keys.allSatisfy({ fields[$0] != nil }) {
                report(tree.place, "a trigger needs 'active power' or 'button'", hint: "add 'button: pressed'")
            }
            return nil
        case (_?, let button?):
            report(
                button.place, "a trigger has 'active power' or 'button', not both",
                hint: "make 'when' a list of two triggers: either fires the rule")
            return nil
        }
    }

    /// `{ rises above: 40 W, for: 3 s, hysteresis: 2 W }`
    private mutating func threshold(_ tree: YAMLTree) -> PowerThreshold? {
        let known = ["rises above", "falls below", "for", "hysteresis"]
        guard let fields = fields(tree, of: "'active power'", known: known) else { return nil }
        let dwell = fields["for"].flatMap { quantity($0, of: "for", read: Quantity.duration) }
        let hysteresis = fields["hysteresis"].flatMap { quantity($0, of: "hysteresis", read: Quantity.hysteresis) }
        let direction: PowerThreshold.Direction
        let level: Double?
        switch (fields["rises above"], fields["falls below"]) {
        case (let above?, nil):
            (direction, level) = (.risesAbove, quantity(above, of: "rises above", read: Quantity.watts))
        case (nil, let below?):
            (direction, level) = (.fallsBelow, quantity(below, of: "falls below", read: Quantity.watts))
        case (nil, nil):
            if tree.keys.allSatisfy({ fields[$0] != nil }) {
                report(
                    tree.place, "'active power' needs 'rises above' or 'falls below'",
                    hint: "write { rises above: 40 W, for: 3 s }")
            }
            return nil
        case (_?, let below?):
            report(
                below.place, "'active power' has 'rises above' or 'falls below', not both",
                hint: "make 'when' a list of two triggers: either fires the rule")
            return nil
        }
        return level.map {
            PowerThreshold(direction, watts: $0, dwell: dwell ?? .zero, hysteresis: hysteresis)
        }
    }
}

extension YAMLTree {
    /// The keys of a mapping; none of anything else.
    var keys: [String] {
        guard case .mapping(let entries) = value else { return [] }
        return entries.map(\.key)
    }
}
