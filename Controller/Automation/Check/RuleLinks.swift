import PlugModel

/// How one rule can set off another, or itself: something it does meets a trigger.
struct RuleLink: Hashable {
    var from: Int
    /// The place among the actions; nil: its firing itself.
    var action: Int?
    /// By ``KnownHouse/key(_:)``; "" for its firing.
    var plug: String
    /// One of them, or turning on and off where either meets the trigger.
    var effect: RuleEffects
    var to: Int
    /// The place among the triggers.
    var trigger: Int
}

extension RuleInspection {
    /// Links that are followed. Rules that all command and follow the same plugs have a square of them.
    private static let linkLimit = 20_000

    func links() -> [RuleLink] {
        var followers: [String: [(rule: Int, place: Int, trigger: Trigger)]] = [:]
        var listeners: [String: [(rule: Int, place: Int)]] = [:]
        for (index, rule) in rules.enumerated() {
            for (place, trigger) in rule.triggers.enumerated() {
                if let plug = trigger.plug, trigger.followsCommands {
                    followers[house.key(plug), default: []].append((index, place, trigger))
                }
                if case .rule(let name) = trigger { listeners[name, default: []].append((index, place)) }
            }
        }
        var links: [RuleLink] = []
        for (index, rule) in rules.enumerated() where links.count < Self.linkLimit {
            for (listener, place) in listeners[rule.name] ?? [] {
                work.spend(2)
                links.append(RuleLink(from: index, plug: "", effect: [], to: listener, trigger: place))
            }
            for (place, action) in rule.actions.enumerated() {
                for key in action.plugs.map(house.key).unique {
                    for follower in followers[key] ?? [] {
                        work.spend(10)
                        if work.isSpent { return [] }
                        for effect in effects(of: action, meeting: follower.trigger) {
                            links.append(
                                RuleLink(
                                    from: index, action: place, plug: key, effect: effect, to: follower.rule,
                                    trigger: follower.place))
                        }
                    }
                }
            }
        }
        if links.count > Self.linkLimit { work.cut() }
        return Array(links.prefix(Self.linkLimit))
    }

    private func effects(of action: RuleAction, meeting trigger: Trigger) -> [RuleEffects] {
        let effects = action.effects
        if case .relay(_, nil) = trigger, effects.isSuperset(of: [.turnsOn, .turnsOff]) {
            return [[.turnsOn, .turnsOff]]
        }
        return [.turnsOn, .turnsOff, .brightens, .darkens].filter { effects.contains($0) && meets($0, trigger) }
    }

    /// - Parameter effect: one.
    private func meets(_ effect: RuleEffects, _ trigger: Trigger) -> Bool {
        switch trigger {
        case .relay(_, let on):
            return on.map { effect == ($0 ? .turnsOn : .turnsOff) } ?? !effect.isDisjoint(with: [.turnsOn, .turnsOff])
        case .activePower(let plug, let threshold):
            let most = house.plug(plug)?.activePower?.upperBound ?? Self.rating
            switch threshold.direction {
            case .risesAbove: return !effect.isDisjoint(with: .raises) && most > threshold.watts
            case .fallsBelow:
                return !effect.isDisjoint(with: .lowers) && threshold.watts > 0
                    && most >= threshold.watts + threshold.hysteresis
            }
        case .activePowerStays(let plug, let band):
            let most = house.plug(plug)?.activePower?.upperBound ?? Self.rating
            return effect == .turnsOff ? band.low <= 0 : most >= band.low
        case .activeEnergy(_, let threshold): return threshold.period == .on && effect == .turnsOn
        case .button, .lost, .back, .protection, .appliance, .schedule, .rule, .timer: return false
        }
    }
}

extension Trigger {
    /// A command to its plug may set it off.
    fileprivate var followsCommands: Bool {
        switch self {
        case .activePower, .activePowerStays, .activeEnergy, .relay: true
        case .button, .lost, .back, .protection, .appliance, .schedule, .rule, .timer: false
        }
    }
}
