import PlugModel
import RuleModel

/// The possible effects of an action on a plug, as far as triggers can observe them.
struct RuleEffects: OptionSet, Hashable {
    let rawValue: UInt8

    static let turnsOn = RuleEffects(rawValue: 1)
    static let turnsOff = RuleEffects(rawValue: 2)
    static let brightens = RuleEffects(rawValue: 4)
    static let darkens = RuleEffects(rawValue: 8)

    /// The effects that may raise the power.
    static let raises: RuleEffects = [.turnsOn, .brightens]
    static let lowers: RuleEffects = [.turnsOff, .darkens]

    /// The opposite effects. Without an opposite effect, an effect cannot recur forever: in the end, the plug is on or
    /// off, or at its highest or lowest level.
    var undoing: RuleEffects {
        var undoing: RuleEffects = []
        if !isDisjoint(with: .raises) { undoing.formUnion(.lowers) }
        if !isDisjoint(with: .lowers) { undoing.formUnion(.raises) }
        return undoing
    }
}

extension RuleAction {
    var effects: RuleEffects {
        switch self {
        case .turnOn(_, autoOff: nil): .turnsOn
        case .turnOn: [.turnsOn, .turnsOff]
        case .turnOff: .turnsOff
        case .toggle: [.turnsOn, .turnsOff]
        case .restore: [.turnsOn, .turnsOff, .brightens, .darkens]
        case .dim(_, let level, _):
            // A level between 0 and 1000 turns a lamp on, and makes it brighter or darker.
            switch level.permille {
            case 0: .turnsOff
            case 1000: [.turnsOn, .brightens]
            case _: [.turnsOn, .brightens, .darkens]
            }
        case .dimBy(_, let permille, _): permille > 0 ? [.turnsOn, .brightens] : [.turnsOff, .darkens]
        case .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: []
        }
    }

    /// The relay's state after the action; nil if it is unknown or unchanged.
    var relayAfter: Bool? {
        switch self {
        case .turnOn: true
        case .turnOff: false
        case .dim(_, let level, _): level.permille > 0
        case .toggle, .restore, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: nil
        }
    }

    /// True if the action delays the next action.
    var takesTime: Bool {
        switch self {
        case .wait(let duration): duration > .zero
        case .waitUntil: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .wake, .call: false
        }
    }
}

extension Rule {
    /// Returns the effects on each plug, by plug key.
    func effects(in house: KnownHouse) -> [String: RuleEffects] {
        var effects: [String: RuleEffects] = [:]
        for action in actions {
            for plug in action.plugs { effects[house.key(plug), default: []].formUnion(action.effects) }
        }
        return effects
    }
}
