import ArgumentParser
import Daemon

struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and run rule files and scripts, and see what the daemon's rules did.",
        discussion: """
            A rule is a few lines of YAML: when what happens, and what is done then; a script in Lua is what needs more. `plugctl \
            daemon --rules` runs them for good.

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
            abstract: "Run rules until interrupted, and tell what they do.",
            discussion: "Example: plugctl rules run television.yaml")

        @OptionGroup var runner: RunnerOptions
        @Argument(help: "Rule files, or directories of them.", completion: .file(extensions: ["yaml", "yml", "lua"]))
        var files: [String]
        @Option(
            help: "Where to keep what must survive the process, as the daemon does. (default: nowhere)",
            completion: .directory)
        var state: String?

        func run() async throws {
            let rules = try await readRuleSet(files)
            try await runner.run(rules, state.flatMap(openRuleStore))
        }
    }
}
