import PlugProtocol
import ProtocolCore

extension RuleEngine {
    /// An edge has come: judges cooldown and conditions, and turns the rule's actions into commands.
    mutating func fire(
        _ index: Int, _ cause: Firing.Cause, _ origin: RequestOrigin, now: Instant
    ) -> [Action] {
        let rule = rules[index]
        let firing = Firing(rule: rule.name, cause: cause, time: now)
        if let last = lastFired[index], now < last + rule.cooldown {
            return [.heldBack(firing, .cooldown(until: last + rule.cooldown))]
        }
        if let broken = rule.conditions.first(where: { !holds($0, now: now) }) {
            return [.heldBack(firing, .condition(broken))]
        }
        lastFired[index] = now
        var actions: [Action] = [.fired(firing)]
        var position = 0
        for action in rule.actions {
            for written in action.plugs {
                let id = RequestID(origin, rule: rule.name, position: position)
                actions.append(command(action, plug: written, id: id, firing))
                position += 1
            }
        }
        return actions
    }

    private func holds(_ condition: Condition, now: Instant) -> Bool {
        switch condition {
        case .time(let window):
            localTime?.timeOfDay(at: now).map(window.contains) ?? false
        case .relay(let plug, let on):
            plugs.find(plug).index.map { plugs[$0].relayOn == on } ?? false
        }
    }

    private mutating func command(
        _ action: RuleAction, plug written: String, id: RequestID, _ firing: Firing
    ) -> Action {
        let plug: Int
        switch plugs.find(written) {
        case .plug(let index): plug = index
        case .notPresent: return .notSent(firing, plug: written, .notPresent)
        case .ambiguous(let names): return .notSent(firing, plug: written, .ambiguous(names))
        }
        let command: PlugCommand
        let on: Bool
        switch action {
        case .turnOn: (command, on) = (.setRelay(on: true, autoOff: nil), true)
        case .turnOff: (command, on) = (.setRelay(on: false, autoOff: nil), false)
        case .toggle:
            on = !plugs[plug].expectedOn
            command = .setRelay(on: on, autoOff: nil)
        case .dim(_, let level, let transition):
            on = level.permille > 0
            command = .setLevel(level, transition: transition)
        }
        plugs[plug].wish = (id, on)
        return .send(CommandRequest(id: id, plug: plugs[plug].name, command: command))
    }
}
