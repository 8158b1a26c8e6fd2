import ArgumentParser
import DaemonClient
import DurableFiles
import Presentation
import ProtocolCore

/// A rule of the daemon, named by the user.
struct RuleOfDaemon: ParsableArguments {
    @Argument(help: "The rule's name, in any capitals.")
    var name: String
    @Flag(help: "As a JSON object.")
    var json = false

    /// Sends a request about the rule to the daemon, the only process that runs rules permanently.
    ///
    /// - Parameter place: The path below the rule's own.
    func ask<Answer: Decodable>(_ answer: Answer.Type, _ place: String, body: String) async throws -> Answer {
        let client = DaemonClient(path: DaemonSocket.path())
        let rules: [String]
        do {
            rules = try await client.read([RuleStateRecord].self, "/api/v1/rules").map(\.rule)
        } catch DaemonFault.noDaemon(let path) {
            throw Complaint(
                """
                no daemon listens at \(path), and rules are the daemon's
                hint: `plugctl daemon --rules FILE` starts one; `plugctl rules run FILE` runs rules without
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
            throw Complaint("several rules are called \(names)\nhint: write the capitals as there")
        }
        if let other = Suggestion.nearest(to: name, among: rules) {
            throw Complaint("the daemon runs no rule \"\(name)\"\nhint: did you mean \"\(other)\"?")
        }
        let list = rules.prefix(10).joined(separator: ", ") + (rules.count > 10 ? ", ..." : "")
        throw Complaint(
            "the daemon runs no rule \"\(name)\"\nhint: " + (rules.isEmpty ? "it runs none at all" : "it runs: \(list)")
        )
    }
}

struct RuleEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable",
        abstract: "Turn a rule of the daemon on again.",
        discussion: "Example: plugctl rules enable \"Movie night\"")

    @OptionGroup var rule: RuleOfDaemon

    func run() async throws { try await saying { try await rule.turn(on: true) } }
}

struct RuleDisable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable",
        abstract: "Turn a rule of the daemon off: it fires no more until it is turned on again, also after a restart.",
        discussion: "Example: plugctl rules disable \"Movie night\"")

    @OptionGroup var rule: RuleOfDaemon

    func run() async throws { try await saying { try await rule.turn(on: false) } }
}

struct RuleFire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fire",
        abstract: "Do once what a rule of the daemon does, whatever its triggers and conditions say.",
        discussion: """
            What became of it: `plugctl rules explain NAME`.

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
        complain(
            """
            this holds for what stands at line \(line) of \(state.script ?? ""), also when that is another function after an edit
            hint: an option of the function gives it a name that stays: { name = "..." }
            """)
    }
}
