import ArgumentParser
import Daemon

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

        func run() async throws {
            let rules = try await readRuleSet(files)
            try await runner.run(rules, state.flatMap(openRuleStore))
        }
    }
}
