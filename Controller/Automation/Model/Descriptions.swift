import ApplianceSense
import PlugModel
import ProtocolCore

extension PowerThreshold: CustomStringConvertible {
    /// For example `rises above 40 W for 3 s`.
    public var description: String { words(rises: "rises above", falls: "falls below") }

    func words(rises: String, falls: String) -> String {
        let verb =
            switch direction {
            case .risesAbove: rises
            case .fallsBelow: falls
            }
        return "\(verb) \(watts.decimal) W" + dwell.forWords
    }
}

extension PowerBand: CustomStringConvertible {
    /// For example `stays between 5 W and 40 W for 10 min`.
    public var description: String { "stays between \(low.decimal) W and \(high.decimal) W" + dwell.forWords }
}

extension EnergyThreshold: CustomStringConvertible {
    /// For example `2.5 kWh since the day began`.
    public var description: String {
        let amount = wattHours >= 1000 ? "\((wattHours / 1000).decimal) kWh" : "\(wattHours.decimal) Wh"
        let since =
            switch period {
            case .hour, .day, .week, .month: "since the \(period.rawValue) began"
            case .on: "since it was turned on"
            }
        return "\(amount) \(since)"
    }
}

extension ApplianceTrigger: CustomStringConvertible {
    /// For example `finished` or `compressor started`.
    public var description: String {
        switch self {
        case .started(let kind): kind.map { "\($0.rawValue) started" } ?? "started"
        case .finished(let kind): kind.map { "\($0.rawValue) finished" } ?? "finished"
        }
    }
}

extension Weekdays: CustomStringConvertible {
    /// For example `mon, tue`.
    public var description: String {
        Self.names.enumerated().filter { rawValue >> UInt8($0.offset) & 1 == 1 }.map(\.element)
            .joined(separator: ", ")
    }

    /// For example ` on mon, tue`. Empty if the set has all days.
    var onWords: String { self == .all ? "" : " on \(self)" }
}

extension Schedule: CustomStringConvertible {
    /// For example `at 07:30 on mon, tue`, `30 min before sunset` or `cron */15 * * * *`.
    public var description: String {
        switch self {
        case .daily(let time, let days): "at \(time)" + days.onWords
        case .sun(let event, let offset, let days): event.words(offset) + days.onWords
        case .cron(let schedule): "cron \(schedule.text)"
        }
    }
}

extension SunEvent {
    func words(_ offset: Duration) -> String {
        if offset == .zero { return rawValue }
        return offset > .zero ? "\(offset.words) after \(rawValue)" : "\((.zero - offset).words) before \(rawValue)"
    }
}

extension DailyWindow: CustomStringConvertible {
    /// For example `from 17:00 to 02:00`.
    public var description: String { "from \(after) to \(before)" }
}

extension DailyWindow.Point: CustomStringConvertible {
    /// For example `17:00` or `30 min before sunset`.
    public var description: String {
        switch self {
        case .clock(let time): "\(time)"
        case .sun(let event, let offset): event.words(offset)
        }
    }
}

extension Condition: CustomStringConvertible {
    /// The condition in words, for example `(Lamp is on and day is sat, sun)`.
    public var description: String {
        switch self {
        case .time(let window): "time is \(window)"
        case .weekdays(let days): "day is \(days)"
        case .relay(let plug, let on): "\(plug) is \(on ? "on" : "off")"
        case .level(let plug, .above(let level)): "\(plug) is brighter than \(level.percent.decimal) %"
        case .level(let plug, .below(let level)): "\(plug) is darker than \(level.percent.decimal) %"
        case .activePower(let plug, .above(let watts)): "\(plug) draws more than \(watts.decimal) W"
        case .activePower(let plug, .below(let watts)): "\(plug) draws less than \(watts.decimal) W"
        case .present(let plug, let isPresent): "\(plug) is \(isPresent ? "there" : "away")"
        case .all(let parts): "(" + parts.map { "\($0)" }.joined(separator: " and ") + ")"
        case .any(let parts): "(" + parts.map { "\($0)" }.joined(separator: " or ") + ")"
        case .not(let part): "not \(part)"
        }
    }
}

extension Trigger: CustomStringConvertible {
    /// The trigger in words, for example `Hall: button pressed (single)`.
    public var description: String {
        switch self {
        case .activePower(let plug, let threshold): "\(plug) \(threshold)"
        case .activePowerStays(let plug, let band): "\(plug) \(band)"
        case .activeEnergy(let plug, let threshold): "\(plug) takes more than \(threshold)"
        case .button(let plug, let press): "\(plug): button pressed (\(press.rawValue))"
        case .relay(let plug, let on): "\(plug) is turned \(on.map { $0 ? "on" : "off" } ?? "on or off")"
        case .lost(let plug, let dwell): "\(plug) is lost" + dwell.forWords
        case .back(let plug, let dwell): "\(plug) is back" + dwell.forWords
        case .protection(let plug, let protection): "\(plug): \(protection?.rawValue ?? "a protection") trips"
        case .appliance(let plug, let change): "\(plug): \(change)"
        case .schedule(let schedule): "\(schedule)"
        case .rule(let name): "rule \"\(name)\" fires"
        case .timer(let timer): "\(timer) is over"
        }
    }
}

extension RuleAction: CustomStringConvertible {
    /// The action in words, for example `turn on Fan for 15 min`.
    public var description: String {
        let plugs = plugs.joined(separator: ", ")
        return switch self {
        case .turnOn(_, let autoOff): "turn on \(plugs)" + (autoOff?.forWords ?? "")
        case .turnOff: "turn off \(plugs)"
        case .toggle: "turn over \(plugs)"
        case .dim(_, let level, let transition): "dim \(plugs) to \(level.percent.decimal) %" + transition.overWords
        case .dimBy(_, let permille, let transition):
            "dim \(plugs) by \((Double(permille) / 10).decimal) %" + transition.overWords
        case .restore: "restore \(plugs)"
        case .wait(let duration): "wait \(duration.words)"
        case .waitUntil(let condition, let timeout, let end):
            "wait until \(condition), at most \(timeout.words)" + (end == .stop ? ", else stop" : "")
        case .notify(let title, let text): "notify: " + (title.map { "\($0): " } ?? "") + text
        case .run(let command, _): "run \(command.joined(separator: " "))"
        case .webHook(let hook): hook.words
        case .call(let handler): "\(handler)"
        }
    }
}

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
        case .timedOut(.goOn): "waiting timed out; it continues"
        case .timedOut(.stop): "waiting timed out; it stops"
        case .nothingToRestore(let plug): "\(plug): nothing to restore"
        case .finished: "done"
        case .cancelled(.restarted): "cancelled: the rule fired again"
        case .cancelled(.ruleChanged): "cancelled: the rule was changed"
        case .cancelled(.disabled): "cancelled: the rule was turned off"
        case .cancelled(.missed): "cancelled: the daemon was not running when it should have continued"
        }
    }
}

extension Duration {
    /// The duration as in a rule file, for example `3 s` or `1.5 h`. In hours if it is at least an hour and a multiple
    /// of three minutes, in minutes if it is at least a minute and a multiple of three seconds, in milliseconds below a
    /// second, otherwise in seconds.
    var words: String {
        let seconds = inSeconds
        switch seconds.magnitude {
        case 3600... where (seconds / 60).truncatingRemainder(dividingBy: 3) == 0:
            return "\((seconds / 3600).decimal) h"
        case 60... where seconds.truncatingRemainder(dividingBy: 3) == 0: return "\((seconds / 60).decimal) min"
        case ..<1 where seconds != 0: return "\((seconds * 1000).decimal) ms"
        case _: return "\(seconds.decimal) s"
        }
    }

    fileprivate var forWords: String { self > .zero ? " for \(words)" : "" }
    fileprivate var overWords: String { self > .zero ? " over \(words)" : "" }
}

extension Double {
    /// The number with at most three decimals and without trailing zeros: 40, 0.5.
    var decimal: String {
        guard magnitude < 1e12 else { return "\(self)" }
        let thousandths = Int64((magnitude * 1000).rounded())
        let whole = "\(self < 0 && thousandths > 0 ? "-" : "")\(thousandths / 1000)"
        let rest = "\(1000 + thousandths % 1000)".dropFirst()
        let digits = rest.reversed().drop { $0 == "0" }.reversed()
        return digits.isEmpty ? whole : whole + "." + String(digits)
    }
}
