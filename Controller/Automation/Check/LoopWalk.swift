import PlugModel

/// Goes round a loop twice with what is known of the plugs then. What is on cannot be turned on: rules that only ever turn on what
/// another one turned on come to rest.
struct LoopWalk {
    private let inspection: RuleInspection
    private let loop: [RuleLink]
    /// By key, where known.
    private var relays: [String: Bool] = [:]
    private var levels: [String: Int] = [:]

    init(_ inspection: RuleInspection, _ loop: [RuleLink]) { (self.inspection, self.loop) = (inspection, loop) }

    /// It can go round for ever, as far as can be told.
    var goesOn: Bool {
        // Each command is performed twice here, and its effect looked at once more.
        inspection.work.spend(members.reduce(0) { $0 + $1.actions.reduce(50) { $0 + 20 + 20 * $1.plugs.count } })
        guard !inspection.work.isSpent, canBeUndone, canHoldTogether else { return false }
        var walk = self
        for _ in 0..<2 {
            for (place, link) in loop.enumerated() {
                let incoming = loop[(place + loop.count - 1) % loop.count]
                guard walk.take(link, after: incoming) else { return false }
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

    /// What it does, it also undoes.
    private var canBeUndone: Bool {
        let effects = self.effects
        return loop.allSatisfy { link in
            link.action == nil || !(effects[link.plug] ?? []).isDisjoint(with: link.effect.undoing)
        }
    }

    /// Conditions on what the loop does not change have to hold all the time.
    private var canHoldTogether: Bool {
        let changed = Set(effects.keys)
        let lasting = members.flatMap(\.conditions).filter { condition in
            condition.plugs.allSatisfy { !changed.contains(inspection.house.key($0)) }
        }
        return !inspection.isImpossible(lasting)
    }

    /// Fires the rule that a link comes from. False where the rule does not fire, or the link's action changes nothing.
    private mutating func take(_ link: RuleLink, after incoming: RuleLink) -> Bool {
        let rule = inspection.rules[link.from]
        let trigger = rule.triggers[incoming.trigger]
        note(trigger)
        let facts = inspection.facts(trigger, of: rule) + relays.map { SupposedWorld.Fact.relay($0.key, on: $0.value) }
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
        // They may be off again when somebody looks.
        for key in timed where relays[key] == true { relays[key] = nil }
        return true
    }

    private mutating func note(_ trigger: Trigger) {
        switch trigger {
        case .relay(let plug, let on?): relays[inspection.house.key(plug)] = on
        case .activePower(let plug, let threshold):
            // Nothing is drawn through an open relay.
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
        case .dimBy, .restore, .wait, .waitUntil, .notify, .run, .webHook, .call: true
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
        case .wait, .waitUntil, .notify, .run, .webHook, .call: break
        }
    }
}
