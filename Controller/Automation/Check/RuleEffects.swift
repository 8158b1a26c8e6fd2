import PlugModel

/// What an action may do to a plug, as far as triggers see it.
struct RuleEffects: OptionSet, Hashable {
    let rawValue: UInt8

    static let turnsOn = RuleEffects(rawValue: 1)
    static let turnsOff = RuleEffects(rawValue: 2)
    static let brightens = RuleEffects(rawValue: 4)
    static let darkens = RuleEffects(rawValue: 8)

    /// The power of what is fed may go up.
    static let raises: RuleEffects = [.turnsOn, .brightens]
    static let lowers: RuleEffects = [.turnsOff, .darkens]

    /// The other direction: without it what was done once cannot be done again.
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
            // A level in between turns on what was off, and is brighter or darker than what was.
            switch level.permille {
            case 0: .turnsOff
            case 1000: [.turnsOn, .brightens]
            case _: [.turnsOn, .brightens, .darkens]
            }
        case .dimBy(_, let permille, _): permille > 0 ? [.turnsOn, .brightens] : [.turnsOff, .darkens]
        case .wait, .waitUntil, .notify, .run, .webHook, .call: []
        }
    }

    /// What the relay is afterwards; nil: it depends, or it is not touched.
    var relayAfter: Bool? {
        switch self {
        case .turnOn: true
        case .turnOff: false
        case .dim(_, let level, _): level.permille > 0
        case .toggle, .restore, .dimBy, .wait, .waitUntil, .notify, .run, .webHook, .call: nil
        }
    }

    /// It takes time, so that what follows does not happen in the same moment.
    var takesTime: Bool {
        switch self {
        case .wait(let duration): duration > .zero
        case .waitUntil: true
        case .turnOn, .turnOff, .toggle, .dim, .dimBy, .restore, .notify, .run, .webHook, .call: false
        }
    }
}

extension Rule {
    /// What it does to each plug, by key.
    func effects(in house: KnownHouse) -> [String: RuleEffects] {
        var effects: [String: RuleEffects] = [:]
        for action in actions {
            for plug in action.plugs { effects[house.key(plug), default: []].formUnion(action.effects) }
        }
        return effects
    }
}
