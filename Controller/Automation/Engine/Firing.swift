import PlugProtocol
import ProtocolCore

extension RuleEngine {
    /// An edge has come: judges cooldown and conditions, and turns the rule's actions into commands.
    mutating func fire(
        _ index: Int, _ cause: Firing.Cause, _ origin: RequestOrigin, now: Instant
    ) -> [Action] {
        let rule = rules[index]
        let id = RequestID(origin, rule: rule.name, position: -1)
        let firing = Firing(id: id, rule: rule.name, cause: cause, time: now)
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
            guard case .clock(let after) = window.after, case .clock(let before) = window.before else { return false }
            return localTime?.timeOfDay(at: now).map { DailyWindow.contains($0, after: after, before: before) } ?? false
        case .relay(let plug, let on): return plugs.find(plug).index.map { plugs[$0].relayOn == on } ?? false
        case .weekdays, .level, .activePower, .present: return false
        case .all(let parts): return parts.allSatisfy { holds($0, now: now) }
        case .any(let parts): return parts.contains { holds($0, now: now) }
        case .not(let part): return !holds(part, now: now)
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
        let command: PlugCommand =
            switch action {
            case .turnOn(_, let autoOff): .setRelay(on: true, autoOff: autoOff)
            case .turnOff: .setRelay(on: false, autoOff: nil)
            case .toggle: .setRelay(on: !plugs[plug].expectedOn, autoOff: nil)
            case .dim(_, let level, let transition): .setLevel(level, transition: transition)
            case .dimBy, .restore, .wait, .waitUntil, .notify, .run, .webHook: .identify
            }
        let request = CommandRequest(id: id, plug: plugs[plug].name, command: command)
        plugs.expect(request)
        return .send(request, firing)
    }
}
