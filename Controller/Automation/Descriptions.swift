import PlugProtocol
import ProtocolCore

extension PowerThreshold: CustomStringConvertible {
    /// `rises above 40 W for 3 s`
    public var description: String { words(rises: "rises above", falls: "falls below") }

    func words(rises: String, falls: String) -> String {
        let verb =
            switch direction {
            case .risesAbove: rises
            case .fallsBelow: falls
            }
        return "\(verb) \(watts.decimal) W" + (dwell > .zero ? " for \(dwell.inSeconds.decimal) s" : "")
    }
}

extension DailyWindow: CustomStringConvertible {
    /// `from 17:00 to 02:00`
    public var description: String { "from \(after) to \(before)" }
}

extension Condition: CustomStringConvertible {
    /// What has to hold, in words.
    public var description: String {
        switch self {
        case .time(let window): "time is \(window)"
        case .relay(let plug, let on): "\(plug) is \(on ? "on" : "off")"
        }
    }
}

extension Trigger: CustomStringConvertible {
    /// What sets the rule off, in words.
    public var description: String {
        switch self {
        case .activePower(let plug, let threshold): "\(plug) \(threshold)"
        case .button(let plug, let press): "\(plug): button pressed (\(press.rawValue))"
        }
    }
}

extension RuleAction: CustomStringConvertible {
    /// What is done, in words.
    public var description: String {
        let plugs = plugs.joined(separator: ", ")
        return switch self {
        case .turnOn: "turn on \(plugs)"
        case .turnOff: "turn off \(plugs)"
        case .toggle: "turn over \(plugs)"
        case .dim(_, let level, let transition):
            "dim \(plugs) to \(level.percent.decimal) %"
                + (transition > .zero ? " over \(transition.inSeconds.decimal) s" : "")
        }
    }
}

extension Firing.Cause: CustomStringConvertible {
    /// `Television rose above 40 W for 3 s (now 83.2 W)`, `Hall: button pressed (single)`
    public var description: String {
        switch self {
        case .activePower(let plug, let threshold, let value, _):
            "\(plug) \(threshold.words(rises: "rose above", falls: "fell below")) (now \(value.decimal) W)"
        case .button(let plug, let press, _):
            "\(plug): button pressed (\(press.rawValue))"
        }
    }
}

extension HoldBack: CustomStringConvertible {
    public var description: String {
        switch self {
        case .condition(let condition): "not so: \(condition)"
        case .cooldown: "cooling down"
        case .old(let age?): "that was \(age.inSeconds.decimal) s ago"
        case .old(nil): "that was before the plug started"
        }
    }
}

extension UnsentReason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notPresent: "no such plug is there now"
        case .ambiguous(let names): "the name fits several plugs: \(names.joined(separator: ", "))"
        }
    }
}

extension Double {
    /// With at most three decimals, and none that are zero at the end: 40, 0.5.
    var decimal: String {
        guard magnitude < 1e12 else { return "\(self)" }
        let thousandths = Int64((magnitude * 1000).rounded())
        let whole = "\(self < 0 && thousandths > 0 ? "-" : "")\(thousandths / 1000)"
        let rest = "\(1000 + thousandths % 1000)".dropFirst()
        let digits = rest.reversed().drop { $0 == "0" }.reversed()
        return digits.isEmpty ? whole : whole + "." + String(digits)
    }
}
