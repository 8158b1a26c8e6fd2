import ArgumentParser
import Daemon

struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check and run rule files, and see what the daemon's rules did.",
        discussion: """
            A rule is a few lines of YAML: when what happens, and what is done then. `plugctl daemon --rules` runs them for good.

            Examples:
              plugctl rules check movie-night.yaml
              plugctl rules run movie-night.yaml
              plugctl rules state
            """,
        subcommands: [Check.self, RunRules.self, RuleStates.self, RuleEnable.self, RuleDisable.self, RuleFire.self])

    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Read rule files and say what is wrong with them, without running anything.",
            discussion: "Example: plugctl rules check movie-night.yaml")

        @Argument(help: "Rule files, or directories of them.", completion: .file(extensions: ["yaml", "yml"]))
        var files: [String]

        func run() async throws {
            let rules = try await readRules(files)
            Output.line("\(rules.count) rule\(rules.count == 1 ? "" : "s"), no errors")
        }
    }

    struct RunRules: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run rules until interrupted, and tell what they do.",
            discussion: "Example: plugctl rules run movie-night.yaml")

        @OptionGroup var runner: RunnerOptions
        @Argument(help: "Rule files, or directories of them.", completion: .file(extensions: ["yaml", "yml"]))
        var files: [String]
        @Option(
            help: "Where to keep what must survive the process, as the daemon does. (default: nowhere)",
            completion: .directory)
        var state: String?

        func run() async throws { try await runner.run(RuleFileSet(rules: readRules(files)), state.flatMap(openRuleStore)) }
    }
}
