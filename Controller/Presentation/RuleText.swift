import PlugModel

extension RuleRecord {
    /// Text for the user. It has several lines for a file with errors, and for a script that logs several entries.
    public var text: String {
        let (plug, why, what) = (plug ?? "", why ?? "", what ?? "")
        let rule = "\"\(rule ?? "")\""
        return switch event {
        case "following": "following \(plug), \(plugs ?? 0) plugs in all"
        case "lost": "\(plug) is gone"
        case "renamed":
            "\(before ?? "") was renamed to \(plug); these rules use the old name and stay bound to the plug \(id ?? ""): "
                + (rules ?? []).joined(separator: ", ")
        case "gap": "\(plug): events \(from ?? 0) to \(to ?? 0) are lost (\(why))"
        case "firing": "\(rule) fires: \(why)"
        case "heldBack": "\(rule) was held back: \(why)"
        case "nearMiss": "\(rule) nearly fired: \(why)"
        case "step": "\(rule) \(what)"
        case "ruleEnabled": "\(rule) is turned \(enabled == true ? "on" : "off")"
        case "commanded": "\(plug): \(what), for \(rule)"
        case "remembered": "\(plug) is away: \(what) will be sent when it returns, for \(rule): \(why)"
        case "notSent": "\(rule) cannot command \(plug): \(why)"
        case "resumed": "\(plug): command sent again, because \(rule) fired before the restart: \(why)"
        case "performing": "\(rule): \(what)"
        case "effect" where effect == "notify" && outcome == "done":
            "\(rule) notifies: " + (title.map { $0.isEmpty ? "" : "\($0): " } ?? "") + (message ?? "")
        case "effect" where effect == "wake" && outcome == "done": "\(rule): \(what): \(why)"
        case "effect": "\(rule): \(what): \(outcome == "done" ? "done" : "failed: \(why)")"
        case "rulesChanged": "rules reloaded: \((rules ?? []).joined(separator: ", "))"
        case "fileBroken": "\(file ?? "") is not valid, so its last valid version stays active: \(why)"
        case "fileSound": "\(file ?? "") is valid again"
        case "calling": "\(rule): calling \(script ?? "")"
        case "called": "\(rule): \(script ?? "") has answered"
        case "scriptLog": "\(rule) logs: " + (log ?? []).joined(separator: "\n    ")
        case "callFailed": "\(rule) failed: \(why)"
        case "commandsHeldBack":
            "\(script ?? ""): \(count ?? 0) \(count == 1 ? "command" : "commands") not sent: the script exceeds the limit of commands per minute"
        case "timersHeldBack":
            "\(script ?? ""): \(count ?? 0) \(count == 1 ? "timer is" : "timers are") delayed: the script exceeds the limit of timers per minute"
        case "scriptEnded":
            "\(script ?? "") ended: \(why); "
                + (restartsIn.map { "it restarts in \(number($0)) s" }
                    ?? "it restarts when its file changes")
        case "scriptRuns": "\(script ?? "") runs"
        case "notStored":
            "the state of the rules cannot be stored: \(why); until it can, a crash may lose a command or repeat a firing"
        case "storedInReserve":
            "the state of the rules is stored in a reserved file because the disk is not writable: \(why)"
        case "stored": "the state of the rules is stored again"
        case "recordsLeftOut": "\(count ?? 0) \(count == 1 ? "line" : "lines") dropped because the output was not read"
        default: outcome == "done" ? "\(plug): done" : "\(plug): \(outcome ?? ""): \(why)"
        }
    }

    /// The notification for the user; nil for other records. It is shown at once, while delivery to an unreachable
    /// receiver can be retried for minutes.
    public var notification: NotificationRecord? {
        guard event == "performing", effect == "notify", let message else { return nil }
        return NotificationRecord(at: at, rule: rule ?? "", title: title ?? "", text: message)
    }
}

/// A notification of a rule or of the budget to the user.
public struct NotificationRecord: Codable, Hashable, Sendable {
    /// The time in ISO 8601, UTC, milliseconds.
    public var at: String
    /// The rule's name; `plugctl budget` for a notification of the budget.
    public var rule: String
    /// The title; empty if the rule has none.
    public var title: String
    /// The text.
    public var text: String

    /// Creates a record.
    public init(at: String, rule: String, title: String, text: String) {
        self.at = at
        self.rule = rule
        self.title = title
        self.text = text
    }
}

extension PlugCommand {
    /// The command in words: `turn on for 900 s`, `dim to 30 % over 2 s`.
    var inWords: String {
        switch self {
        case .setRelay(let on, let autoOff):
            "turn \(on ? "on" : "off")" + (autoOff.map { " for \(number($0.inSeconds)) s" } ?? "")
        case .setLevel(let level, let transition):
            "dim to \(number(level.percent)) %" + (transition > .zero ? " over \(number(transition.inSeconds)) s" : "")
        case .identify: "identify"
        case .resetProtection: "reset the protection"
        case .rename: "rename"
        case .configure: "change settings"
        }
    }
}
