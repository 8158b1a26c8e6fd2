import Automation
public import Daemon
import LinuxNetwork
import PlugProtocol

/// One line of `plugctl daemon --json` and `plugctl rules run --json`.
public struct RuleRecord: Encodable, Equatable, Sendable {
    /// following, lost, gap, firing, heldBack, notSent, command.
    public var event: String
    /// ISO 8601, UTC, milliseconds.
    public var at: String
    /// The plug that it is about: for a firing the one whose edge it was, for a command the one commanded.
    public var plug: String?
    public var rule: String?
    /// firing, heldBack: what happened; notSent, command: why it was not done.
    public var why: String?
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
        switch record.kind {
        case .following(let count, let newest):
            event = "following"
            plugs = count
            plug = newest
        case .lost(let name):
            event = "lost"
            plug = name
        case .gap(let name, let first, let last, let reason):
            event = "gap"
            (plug, from, to, why) = (name, first, last, reason)
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
        case .command(let name, let result):
            event = "command"
            plug = name
            switch result {
            case .done(_, event: let number): (outcome, seq) = ("done", number)
            case .refused(let refusal): (outcome, why) = (refusal.code.rawValue, refusal.detail)
            }
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
        default: outcome == "done" ? "\(plug ?? ""): done" : "\(plug ?? ""): \(outcome ?? ""): \(why ?? "")"
        }
    }

    private mutating func take(_ firing: Firing) {
        rule = firing.rule
        why = firing.cause.description
        switch firing.cause {
        case .activePower(let name, _, value: _, since: _), .button(let name, _, sequence: _): plug = name
        }
    }
}
