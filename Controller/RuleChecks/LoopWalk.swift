import PlugModel
import RuleModel

/// Simulates two rounds of a loop of rules with the known states of the plugs. A command that changes no state triggers
/// no rule. Therefore, a loop of rules that turn plugs on but never off does not run forever.
struct LoopWalk {
    private let inspection: RuleInspection
    private let loop: [RuleLink]
    /// The known relay states, by plug key.
    private var relays: [String: Bool] = [:]
    private var levels: [String: Int] = [:]

    init(_ inspection: RuleInspection, _ loop: [RuleLink]) { (self.inspection, self.loop) = (inspection, loop) }

    /// True if the loop may run forever. False if the work limit is reached.
    var goesOn: Bool {
        // Subtracts the estimated steps in advance: each command is simulated twice, and `canBeUndone` checks its
        // effect.
        inspection.work.spend(members.reduce(0) { $0 + $1.actions.reduce(50) { $0 + 20 + 20 * $1.plugs.count } })
        guard !inspection.work.isSpent, canBeUndone, canHoldTogether else { return false }
        var walk = self
        for _ in 0..<2 {
            for (place, link) in loop.enumerated() {
                let incoming = loop[(place + loop.count - 1) % loop.count]
                guard walk.follow(link, after: incoming) else { return false }
            }
        }
        return !inspection.work.isSpent
    }

    private var members: [Rule] { loop.map { inspection.rules[$0.from] } }

    private var effects: [String: RuleEffects] {
        members.reduce(into: [:]) { effects, rule in
            effects.merge(rule.effects(in: inspection.house)) { $0.union($1) }
        }
    }

    /// True if each effect by which the loop continues can be undone by some action of the loop.
    private var canBeUndone: Bool {
        let effects = self.effects
        return loop.allSatisfy { link in
            link.action == nil || !(effects[link.plug] ?? []).isDisjoint(with: link.effect.undoing)
        }
    }

    /// True if the conditions that do not depend on the loop can all hold at the same time.
    private var canHoldTogether: Bool {
        let changed = Set(effects.keys)
        let lasting = members.flatMap(\.conditions).filter { condition in
            condition.plugs.allSatisfy { !changed.contains(inspection.house.key($0)) }
        }
        return !inspection.isImpossible(lasting)
    }

    /// Fires the rule from which a link starts. Returns false if the rule does not fire, or if the link's action
    /// changes nothing.
    private mutating func follow(_ link: RuleLink, after incoming: RuleLink) -> Bool {
        let rule = inspection.rules[link.from]
        let trigger = rule.triggers[incoming.trigger]
        note(trigger)
        let facts =
            inspection.facts(trigger, of: rule) + relays.map { HypotheticalState.Fact.relay($0.key, on: $0.value) }
        if !inspection.isImpossible([], facts), inspection.isImpossible(rule.conditions, facts) { return false }
        var timed: [String] = []
        for (place, action) in rule.actions.enumerated() {
            for key in action.plugs.map(inspection.house.key).unique {
                let isLink = place == link.action && key == link.plug
                if isLink, !canCause(link.effect, action, key) { return false }
                perform(action, key)
                if isLink, link.effect == .turnsOn || link.effect == .turnsOff { relays[key] = link.effect == .turnsOn }
                if case .turnOn(_, .some) = action { timed.append(key) }
            }
        }
        // A plug that turns itself off may be off again in the next round.
        for key in timed where relays[key] == true { relays[key] = nil }
        return true
    }

    private mutating func note(_ trigger: Trigger) {
        switch trigger {
        case .relay(let plug, let on?): relays[inspection.house.key(plug)] = on
        case .activePower(let plug, let threshold):
            // An open relay carries no power.
            guard threshold.direction == .risesAbove, threshold.watts >= 0 else { return }
            relays[inspection.house.key(plug)] = true
        case .activePowerStays(let plug, let band):
            if band.low > 0 { relays[inspection.house.key(plug)] = true }
        case .relay(_, nil), .activeEnergy, .button, .lost, .back, .protection, .appliance, .schedule, .rule, .timer:
            break
        }
    }

    private func canCause(_ effect: RuleEffects, _ action: RuleAction, _ key: String) -> Bool {
        switch action {
        case .turnOn(_, .some): effect == .turnsOff || relays[key] != true
        case .turnOn, .turnOff, .toggle:
            effect == [.turnsOn, .turnsOff] || relays[key] == nil || relays[key] == (effect == .turnsOff)
        case .dim(_, let level, _):
            switch effect {
            case .turnsOn: relays[key] != true
            case .turnsOff: relays[key] != false
            case _: levels[key] != Int(level.permille)
            }
        case .dimBy, .restore, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: true
        }
    }

    private mutating func perform(_ action: RuleAction, _ key: String) {
        switch action {
        case .turnOn: relays[key] = true
        case .turnOff: relays[key] = false
        case .toggle: relays[key] = relays[key].map { !$0 }
        case .dim(_, let level, _):
            relays[key] = level.permille > 0
            levels[key] = Int(level.permille)
        case .dimBy, .restore:
            relays[key] = nil
            levels[key] = nil
        case .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: break
        }
    }
}
