import ApplianceSense
import PlugModel
import ProtocolCore

extension PowerThreshold: CustomStringConvertible {
    /// For example `rises above 40 W for 3 s`.
    public var description: String { words(rises: "rises above", falls: "falls below") }

    package func words(rises: String, falls: String) -> String {
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
        case .probablyFinished(let kind): kind.map { "\($0.rawValue) probably finished" } ?? "probably finished"
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
    package func words(_ offset: Duration) -> String {
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
        case .toggle: "toggle \(plugs)"
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
        case .wake(let machine): "wake \(machine)"
        case .call(let handler): "\(handler)"
        }
    }
}

extension Duration {
    /// The duration as in a rule file, for example `3 s` or `1.5 h`. In hours if it is at least an hour and a multiple
    /// of three minutes, in minutes if it is at least a minute and a multiple of three seconds, in milliseconds below a
    /// second, otherwise in seconds.
    package var words: String {
        let seconds = inSeconds
        switch seconds.magnitude {
        case 3600... where (seconds / 60).truncatingRemainder(dividingBy: 3) == 0:
            return "\((seconds / 3600).decimal) h"
        case 60... where seconds.truncatingRemainder(dividingBy: 3) == 0: return "\((seconds / 60).decimal) min"
        case ..<1 where seconds != 0: return "\((seconds * 1000).decimal) ms"
        case _: return "\(seconds.decimal) s"
        }
    }

    /// ` for 3 s`; empty for zero.
    package var forWords: String { self > .zero ? " for \(words)" : "" }
    fileprivate var overWords: String { self > .zero ? " over \(words)" : "" }
}

extension Double {
    /// The number with at most three decimals and without trailing zeros: 40, 0.5.
    package var decimal: String {
        guard magnitude < 1e12 else { return "\(self)" }
        let thousandths = Int64((magnitude * 1000).rounded())
        let whole = "\(self < 0 && thousandths > 0 ? "-" : "")\(thousandths / 1000)"
        let rest = "\(1000 + thousandths % 1000)".dropFirst()
        let digits = rest.reversed().drop { $0 == "0" }.reversed()
        return digits.isEmpty ? whole : whole + "." + String(digits)
    }
}
