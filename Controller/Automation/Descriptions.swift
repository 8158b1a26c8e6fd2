import ApplianceSense
import PlugModel
import ProtocolCore
import RuleModel

extension Firing.Cause: CustomStringConvertible {
    /// For example `Television rose above 40 W for 3 s (now 83.2 W)` or `Hall: button pressed (single)`.
    public var description: String {
        let trigger: Trigger
        switch source {
        case .trigger(let met): trigger = met
        case .person: return "run by hand"
        case .told(let words): return words
        }
        // The announced name has precedence: the rule may spell it with other capitals.
        let name = plug ?? trigger.plug ?? ""
        switch trigger {
        case .activePower(_, let threshold):
            return "\(name) \(threshold.words(rises: "rose above", falls: "fell below"))" + nowWords("W")
        case .activePowerStays(_, let band):
            return "\(name) stayed between \(band.low.decimal) W and \(band.high.decimal) W" + band.dwell.forWords
                + nowWords("W")
        case .activeEnergy(_, let threshold): return "\(name) used more than \(threshold)" + nowWords("Wh")
        case .button(_, let press): return "\(name): button pressed (\(press.rawValue))"
        case .relay(_, let on): return "\(name) was turned \(on.map { $0 ? "on" : "off" } ?? "on or off")"
        case .lost(_, let dwell): return "\(name) was lost" + dwell.forWords
        case .back(_, let dwell): return "\(name) was back" + dwell.forWords
        case .protection(_, let protection): return "\(name): \(protection?.rawValue ?? "a protection") tripped"
        case .appliance(_, let change): return "\(name): \(change)"
        case .schedule(let schedule): return "\(schedule)"
        case .rule(let rule): return "rule \"\(rule)\" fired"
        case .timer(let timer): return "\(timer) ended"
        }
    }

    private func nowWords(_ unit: String) -> String { value.map { " (now \($0.decimal) \(unit))" } ?? "" }
}

extension HoldBack: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .condition(let condition): "condition does not hold: \(condition)"
        case .cooldown: "cooling down"
        case .old(let age?): "the event is \(age.inSeconds.decimal) s old"
        case .old(nil): "the event is from before the plug's restart"
        case .running(1): "the previous firing is not finished"
        case .running(let count): "\(count) previous firings are not finished"
        case .limit(let limit): "the rule has already fired \(limit.count) times within \(limit.span.words)"
        case .disabled: "the rule is turned off"
        }
    }
}

extension NearMiss: CustomStringConvertible {
    /// For example `Television rises above 40 W for 3 s: it held 1.2 s, then the power was 12 W`.
    public var description: String {
        let end =
            switch end {
            case .wentBack(let watts): "then the power was \(watts.decimal) W"
            case .silence: "then the plug sent no readings"
            }
        return "\(trigger): it held \(lasted.words), \(end)"
    }
}

extension UnsentReason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .notPresent: "the plug is not connected"
        case .ambiguous(let names): "the name matches several plugs: \(names.joined(separator: ", "))"
        case .noLevel: "the plug has no dimmer"
        }
    }
}

extension RunStep: CustomStringConvertible {
    /// The step in words, for example `waits` or `done`.
    public var description: String {
        switch self {
        case .waiting: "waits"
        case .waitingFor(let condition, _): "waits until \(condition)"
        case .timedOut(.goOn): "the wait timed out; the rule continues with its next action"
        case .timedOut(.stop): "the wait timed out; the rule does no further action"
        case .nothingToRestore(let plug): "\(plug): nothing to restore"
        case .finished: "done"
        case .cancelled(.restarted): "cancelled: the rule fired again"
        case .cancelled(.ruleChanged): "cancelled: the rule was changed"
        case .cancelled(.disabled): "cancelled: the rule was turned off"
        case .cancelled(.missed): "cancelled: the daemon was not running when the wait ended"
        }
    }
}
