import ArgumentParser
import Daemon
import DaemonClient
import LinuxSystem
import Presentation

struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and run rule files and scripts, and inspect the daemon's rules.",
        discussion: """
            A rule is a few lines of YAML that define triggers and actions; a Lua script can do more. `plugctl daemon --rules` runs \
            rules permanently.

            Examples:
              plugctl rules check television.yaml
              plugctl rules run television.yaml
              plugctl rules state
            """,
        subcommands: [
            RuleCheckCommand.self, RunRules.self, RuleStates.self, RuleEnable.self, RuleDisable.self, RuleFire.self,
            RuleExplain.self, RuleBacktest.self, RuleSchemaCommand.self,
        ])

    struct RunRules: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run rules until interrupted, and print what they do.",
            discussion: "Example: plugctl rules run television.yaml")

        @OptionGroup var runner: RunnerOptions
        @Argument(
            help: "Rule files, or directories of rule files.", completion: .file(extensions: ["yaml", "yml", "lua"]))
        var files: [String]
        @Option(
            help: "The directory for state that must survive a restart, as with the daemon. (default: none)",
            completion: .directory)
        var state: String?
        @Flag(help: "Run also rules that the daemon runs, so that both carry out their actions.")
        var anyway = false

        func run() async throws {
            let rules = try await readRuleSet(files)
            if !anyway { try await checkDaemon(rules.rules.map(\.name)) }
            try await runner.run(rules, state.flatMap(openRuleStore))
        }

        /// Throws an error if the daemon runs a rule with one of these names.
        private func checkDaemon(_ names: [String]) async throws {
            let daemon = DaemonClient(path: DaemonSocket.path())
            guard !DaemonSocket.isDeclined, daemon.isThere,
                let known = try? await daemon.read([RuleStateRecord].self, "/api/v1/rules")
            else { return }
            let both = Set(names).intersection(known.map(\.rule)).sorted()
            guard !both.isEmpty else { return }
            printError(
                """
                the daemon already runs \(both.map { "\"\($0)\"" }.joined(separator: ", ")); a second process would carry \
                out each action twice
                hint: stop the daemon, or use --anyway; `plugctl rules state` shows the daemon's rules
                """)
            throw ExitCode.failure
        }
    }
}
