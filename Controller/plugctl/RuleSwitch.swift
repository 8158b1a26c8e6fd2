import ArgumentParser
import DaemonClient
import LinuxSystem
import Presentation
import ProtocolCore

/// A rule of the daemon, named by the user.
struct RuleOfDaemon: ParsableArguments {
    @Argument(help: "The rule's name; upper and lower case do not matter.")
    var name: String
    @Flag(help: "Print a JSON object.")
    var json = false

    /// Sends a request about the rule to the daemon. Throws an error if no daemon is running, because the command
    /// changes a rule of the daemon.
    ///
    /// - Parameter place: The last part of the path, after the rule's name.
    func ask<Answer: Decodable>(_ answer: Answer.Type, _ place: String, body: String) async throws -> Answer {
        let client = DaemonClient(path: DaemonSocket.path())
        let rules: [String]
        do {
            rules = try await client.read([RuleStateRecord].self, "/api/v1/rules").map(\.rule)
        } catch DaemonFault.noDaemon(let path) {
            throw CLIError(
                """
                no daemon is listening at \(path); this command requires the daemon
                hint: start it with `plugctl daemon --rules FILE`; `plugctl rules run FILE` runs rules without a daemon
                """)
        }
        let rule = DaemonClient.part(try found(among: rules))
        return try client.decoded(try await client.post("/api/v1/rules/\(rule)/\(place)", json: Array(body.utf8)))
    }

    private func found(among rules: [String]) throws -> String {
        if rules.contains(name) { return name }
        let near = rules.filter { $0.lowercased() == name.lowercased() }
        if near.count == 1 { return near[0] }
        guard near.isEmpty else {
            let names = near.joined(separator: ", ")
            throw CLIError("several rules match: \(names)\nhint: write upper and lower case exactly")
        }
        if let other = Suggestion.nearest(to: name, among: rules) {
            throw CLIError("the daemon runs no rule \"\(name)\"\nhint: did you mean \"\(other)\"?")
        }
        let list = rules.prefix(10).joined(separator: ", ") + (rules.count > 10 ? ", ..." : "")
        throw CLIError(
            "the daemon runs no rule \"\(name)\"\nhint: "
                + (rules.isEmpty ? "it runs no rules" : "its rules are: \(list)")
        )
    }
}

struct RuleEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Enable a rule of the daemon.",
        discussion: "Example: plugctl rules enable \"Movie night\"")

    @OptionGroup var rule: RuleOfDaemon

    func run() async throws { try await saying { try await rule.turn(on: true) } }
}

struct RuleDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Disable a rule of the daemon until it is enabled again, also across restarts.",
        discussion: "Example: plugctl rules disable \"Movie night\"")

    @OptionGroup var rule: RuleOfDaemon

    func run() async throws { try await saying { try await rule.turn(on: false) } }
}

struct RuleFire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fire",
        abstract: "Run the actions of a rule of the daemon once, regardless of its triggers and conditions.",
        discussion: """
            `plugctl rules explain NAME` shows the result.

            Example: plugctl rules fire "Movie night"
            """)

    @OptionGroup var rule: RuleOfDaemon

    func run() async throws {
        try await saying {
            let fired = try await rule.ask(RuleFiredRecord.self, "fire", body: "{}")
            if rule.json { Output.json(fired) } else { Output.safeLine("\(rule.name): fired") }
        }
    }
}

extension RuleOfDaemon {
    fileprivate func turn(on: Bool) async throws {
        let state = try await ask(RuleStateRecord.self, "enabled", body: "{\"enabled\":\(on)}")
        if json {
            Output.json(state)
            return
        }
        Output.safeLine("\(state.rule): \(on ? "on" : "off")")
        guard !on, let line = state.lineOfScript else { return }
        printError(
            """
            the setting applies to the function at line \(line) of \(state.script ?? ""), even if an edit moves another function there
            hint: give the function a permanent name with its option { name = "..." }
            """)
    }
}
