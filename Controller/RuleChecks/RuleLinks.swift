import PlugModel
import RuleModel

/// A way in which a rule can fire another rule or itself: its action, or its firing, may fire the other rule's trigger.
struct RuleLink: Hashable {
    var from: Int
    /// The place of the action; nil if the firing of the rule fires the trigger.
    var action: Int?
    /// ``KnownHouse/key(_:)`` of the plug; empty for a firing.
    var plug: String
    /// One effect, or `turnsOn` and `turnsOff` together if each may fire the trigger. Empty for a firing.
    var effect: RuleEffects
    var to: Int
    /// The place of the trigger.
    var trigger: Int
}

extension RuleInspection {
    /// The maximum number of followed links. Their number grows with the square of the number of rules if all rules
    /// command and observe the same plugs.
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
        for (index, rule) in rules.enumerated() where links.count <= Self.linkLimit {
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

    /// Returns true if the effect may fire the trigger.
    ///
    /// - Parameter effect: exactly one effect.
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
    /// True if a command to the trigger's plug may fire it.
    fileprivate var followsCommands: Bool {
        switch self {
        case .activePower, .activePowerStays, .activeEnergy, .relay: true
        case .button, .lost, .back, .protection, .appliance, .schedule, .rule, .timer: false
        }
    }
}
