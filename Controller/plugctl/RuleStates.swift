import ArgumentParser
import DaemonClient
import LinuxSystem
import Presentation

/// `plugctl rules state`: shows the state of the rules, which only the daemon has.
struct RuleStates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Show the daemon's rules, their last firing and its cause.",
        discussion: """
            Examples:
              plugctl rules state
              plugctl rules state --json | jq 'select(.firings == 0) | .rule'
            """)

    @Flag(
        help: """
            One JSON object per rule: rule, when, conditions, actions, plugs (for each named plug: written, id, and name, its current \
            name), enabled, fault, running, firings, lastFiring, lastCause, \
            lastHeldBack, heldBackBecause, lastNearMiss, nearMissBecause; for a function of a script script, scriptFault (why its \
            process ended, while none runs), scriptStarts (when it is restarted), lastFailure, failedBecause.
            """)
    var json = false

    func run() async throws {
        try await saying {
            let client = DaemonClient(path: DaemonSocket.path())
            let rules = try await client.read([RuleStateRecord].self, "/api/v1/rules")
            if rules.isEmpty {
                printError("the daemon runs no rules\nhint: start it with `plugctl daemon --rules FILE`")
            }
            for fault in try await client.read([RuleFaultRecord].self, "/api/v1/rules/faults") {
                let goesOn =
                    fault.rules.isEmpty
                    ? "" : "; these rules of its last valid version stay active: \(fault.rules.joined(separator: ", "))"
                printError("\(fault.file) cannot be read\(goesOn)\n\(fault.words)")
            }
            for rule in rules {
                let isRead = json ? Output.json(rule) : lines(of: rule).allSatisfy { Output.safeLine($0) }
                guard isRead else { return }
            }
        }
    }

    private func lines(of rule: RuleStateRecord) -> [String] {
        var lines = [rule.rule + (rule.enabled ? "" : " (turned off)")]
        lines += rule.when.map { "  when       \($0)" }
        lines += rule.conditions.map { "  if         \($0)" }
        lines += rule.actions.map { "  then       \($0)" }
        for plug in rule.plugs ?? [] {
            let other = plug.name.flatMap { $0 == plug.written ? nil : ", now called \($0)" } ?? ""
            let meaning = plug.id.map { "bound to plug \($0)\(other)" } ?? "no plug with this name has been seen"
            lines.append("  \(plug.written): \(meaning)")
        }
        lines.append("  fired      \(rule.firings) \(rule.firings == 1 ? "time" : "times") since the daemon's start")
        if let last = rule.lastFiring {
            lines.append("  last       \(local(last))" + (rule.lastCause.map { ": \($0)" } ?? ""))
        }
        if let held = rule.lastHeldBack {
            lines.append("  held back  \(local(held))" + (rule.heldBackBecause.map { ": \($0)" } ?? ""))
        }
        if let failed = rule.lastFailure {
            lines.append("  failed     \(local(failed))" + (rule.failedBecause.map { ": \($0)" } ?? ""))
        }
        if let missed = rule.lastNearMiss {
            lines.append("  near miss  \(local(missed))" + (rule.nearMissBecause.map { ": \($0)" } ?? ""))
        }
        if rule.running > 0 { lines.append("  waiting    \(rule.running) \(rule.running == 1 ? "firing" : "firings")") }
        if let script = rule.script {
            lines.append("  script     \(script) " + (rule.scriptFault.map { ended($0, rule.scriptStarts) } ?? "runs"))
        }
        if rule.fault != nil { lines.append("  file       is not valid now; its last valid version stays active") }
        return lines
    }

    private func ended(_ why: String, _ starts: String?) -> String {
        let words = "is not running: \(why)"
        return words
            + (starts.map { "; restarts at \(local($0))" } ?? "; restarts when its file changes")
    }

    private func local(_ time: String) -> String { localTime(time, digits: 19) }
}
