import PlugModel

extension RuleRecord {
    /// Text for the user; several lines for a file with errors.
    public var text: String {
        let (plug, why, what) = (plug ?? "", why ?? "", what ?? "")
        let rule = "\"\(rule ?? "")\""
        return switch event {
        case "following": "following \(plug), \(plugs ?? 0) plugs in all"
        case "lost": "\(plug) is gone"
        case "renamed":
            "\(before ?? "") is called \(plug) now; these rules say the name before and go on with the plug \(id ?? ""): "
                + (rules ?? []).joined(separator: ", ")
        case "gap": "\(plug): events \(from ?? 0) to \(to ?? 0) are lost (\(why))"
        case "firing": "\(rule) fires: \(why)"
        case "heldBack": "\(rule) held back: \(why)"
        case "nearMiss": "\(rule) nearly fired: \(why)"
        case "step": "\(rule) \(what)"
        case "ruleEnabled": "\(rule) is turned \(enabled == true ? "on" : "off")"
        case "commanded": "\(plug): \(what), for \(rule)"
        case "remembered": "\(plug) is away: \(what) is kept for its return, for \(rule): \(why)"
        case "notSent": "\(rule) cannot command \(plug): \(why)"
        case "resumed": "\(plug): commanded again, for \(rule) fired before the restart: \(why)"
        case "performing": "\(rule): \(what)"
        case "effect" where effect == "notify" && outcome == "done":
            "\(rule) tells: " + (title.map { $0.isEmpty ? "" : "\($0): " } ?? "") + (message ?? "")
        case "effect": "\(rule): \(what): \(outcome == "done" ? "done" : "failed: \(why)")"
        case "rulesChanged": "rules read anew: \((rules ?? []).joined(separator: ", "))"
        case "fileBroken": "\(file ?? "") cannot be read, and what ran of it goes on: \(why)"
        case "fileSound": "\(file ?? "") can be read again"
        case "calling": "\(rule): \(script ?? "") is called"
        case "called": "\(rule): \(script ?? "") has answered"
        case "scriptLog": "\(rule) says: " + (log ?? []).joined(separator: "\n    ")
        case "callFailed": "\(rule) failed: \(why)"
        case "commandsHeldBack":
            "\(script ?? ""): \(count ?? 0) \(count == 1 ? "command" : "commands") not carried out: it wants more than a script may in a minute"
        case "timersHeldBack":
            "\(script ?? ""): \(count ?? 0) \(count == 1 ? "timer waits" : "timers wait"): no more of a script's end in a minute"
        case "scriptEnded":
            "\(script ?? "") ended: \(why); "
                + (restartsIn.map { "it is started again in \(number($0)) s" }
                    ?? "it is not started again before its file changes")
        case "scriptRuns": "\(script ?? "") runs"
        case "notStored":
            "nothing can be stored: \(why); until it can, being killed may lose a command or repeat a firing"
        case "storedInReserve":
            "the disk refuses the state of the rules, which is in a reserved file until the disk accepts it: \(why)"
        case "stored": "everything is stored again"
        case "recordsLeftOut": "\(count ?? 0) \(count == 1 ? "line" : "lines") left out: nobody read them"
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

/// A notification of a rule to the user.
public struct NotificationRecord: Codable, Hashable, Sendable {
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// The rule's name.
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
        case .configure: "set up"
        }
    }
}
