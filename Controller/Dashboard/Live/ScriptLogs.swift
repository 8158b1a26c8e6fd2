import Automation
import Daemon
import DequeModule
import LinuxSystem
import Presentation

/// The newest log lines of each script, and its failures.
struct ScriptLogs: Hashable, Sendable {
    /// A line of a script's log.
    struct Line: Encodable, Hashable, Sendable {
        /// The time: ISO 8601, UTC.
        var at: String
        /// The rule whose firing called the script; nil for a line about the whole script.
        var rule: String?
        /// log or fault.
        var kind: String
        var text: String
    }

    /// The maximum number of lines per script. A script may log without end.
    static let limit = 200

    private var lines: [String: Deque<Line>] = [:]

    /// Returns the lines of a script, the oldest first.
    func lines(of script: String) -> [Line] { Array(lines[script] ?? []) }

    /// Adds the lines of a notice.
    ///
    /// - Parameter script: returns the script that a rule calls.
    mutating func note(_ record: RunnerRecord, script: (_ rule: String) -> String?) {
        let at = record.at.iso8601()
        switch record.notice {
        case .scriptLogged(let firing, let texts):
            guard let script = script(firing.rule) else { return }
            add(texts.map { Line(at: at, rule: firing.rule, kind: "log", text: $0) }, to: script)
        case .callFailed(let call, let reason):
            add([Line(at: at, rule: call.firing.rule, kind: "fault", text: reason)], to: call.handler.script)
        case .scriptEnded(let script, let why, _):
            add([Line(at: at, rule: nil, kind: "fault", text: "the script ended: \(why)")], to: script)
        case .following, .lost, .gap, .renamed, .firing, .heldBack, .notSent, .nearMiss, .commanded, .performing,
            .remembered, .step, .effect, .ruleEnabled, .rulesChanged, .fileBroken, .fileSound, .resumed, .command,
            .notStored, .storedInReserve, .stored, .calling, .called, .commandsHeldBack, .timersHeldBack, .scriptRuns,
            .recordsLeftOut:
            break
        }
    }

    private mutating func add(_ new: [Line], to script: String) {
        lines[script, default: []].append(contentsOf: new)
        let excess = lines[script, default: []].count - Self.limit
        if excess > 0 { lines[script]?.removeFirst(excess) }
    }

    /// Removes the lines of scripts that no longer exist.
    mutating func keep(_ scripts: Set<String>) { lines = lines.filter { scripts.contains($0.key) } }
}
