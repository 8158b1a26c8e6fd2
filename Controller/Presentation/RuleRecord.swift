import Automation
public import Daemon
import LinuxNetwork
import PlugProtocol

/// One line of `plugctl daemon --json` and `plugctl rules run --json`.
///
/// After a daemon was killed a line may come a second time, from the next one: `cause` and `seq` tell it from another.
public struct RuleRecord: Codable, Hashable, Sendable {
    /// following, lost, gap, firing, heldBack, notSent, resumed, command, notStored, stored.
    public var event: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// The plug that it is about: for a firing the one whose edge it was, for a command the one commanded.
    public var plug: String?
    public var rule: String?
    /// firing, heldBack: what happened; resumed: what had happened; notSent, command: why it was not done.
    public var why: String?
    /// firing, heldBack, notSent, resumed, command: the number of the press that met the rule, where it was one.
    public var cause: UInt64?
    /// following: how many plugs are.
    public var plugs: Int?
    /// command: done or the refusal's code.
    public var outcome: String?
    /// command: the number of the event that records it.
    public var seq: UInt64?
    /// gap: the first and the last event number lost.
    public var from: UInt64?
    public var to: UInt64?

    public init(_ record: RunnerRecord) {
        event = ""
        at = record.at.iso8601()
        switch record.notice {
        case .following(let count, let newest):
            event = "following"
            plugs = count
            plug = newest
        case .lost(let name):
            event = "lost"
            plug = name
        case .gap(let name, let gap):
            event = "gap"
            (plug, from, to, why) = (name, gap.from, gap.to, gap.reason.rawValue)
        case .firing(let firing):
            event = "firing"
            take(firing)
        case .heldBack(let firing, let reason):
            event = "heldBack"
            take(firing)
            why = "\(firing.cause); \(reason)"
        case .notSent(let firing, let name, let reason):
            event = "notSent"
            take(firing)
            plug = name
            why = "\(reason)"
        case .resumed(let command):
            event = "resumed"
            take(command)
            why = command.cause
        case .command(let command, let result):
            event = "command"
            take(command)
            switch result {
            case .done(_, event: let number): (outcome, seq) = ("done", number)
            case .refused(let refusal): (outcome, why) = (refusal.code.rawValue, refusal.detail)
            }
        case .nearMiss, .commanded, .performing, .remembered, .step, .effect, .ruleEnabled, .rulesChanged: event = "rules"
        case .notStored(let reason):
            event = "notStored"
            why = reason
        case .stored:
            event = "stored"
        }
    }

    /// For a person.
    public var text: String {
        switch event {
        case "following": "following \(plug ?? ""), \(plugs ?? 0) plugs in all"
        case "lost": "\(plug ?? "") is gone"
        case "gap": "\(plug ?? ""): events \(from ?? 0) to \(to ?? 0) are lost (\(why ?? ""))"
        case "firing": "\"\(rule ?? "")\" fires: \(why ?? "")"
        case "heldBack": "\"\(rule ?? "")\" held back: \(why ?? "")"
        case "notSent": "\"\(rule ?? "")\" cannot command \(plug ?? ""): \(why ?? "")"
        case "resumed": "\(plug ?? ""): commanded again, for \"\(rule ?? "")\" fired before the restart: \(why ?? "")"
        case "notStored":
            "nothing can be stored: \(why ?? ""); until it can, being killed may lose a command or repeat a firing"
        case "stored": "everything is stored again"
        default: outcome == "done" ? "\(plug ?? ""): done" : "\(plug ?? ""): \(outcome ?? ""): \(why ?? "")"
        }
    }

    private mutating func take(_ firing: Firing) {
        rule = firing.rule
        why = firing.cause.description
        cause = firing.cause.event
        plug = firing.cause.plug
    }

    private mutating func take(_ command: HouseMemory.Command) {
        plug = command.request.plug
        rule = command.rule
        cause = command.event
    }
}
