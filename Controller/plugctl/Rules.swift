import ArgumentParser

struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check and run rule files.", subcommands: [Check.self, RunRules.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read rule files and say what is wrong with them, without running anything.",
            discussion: "Example: plugctl rules check movie-night.yaml")

        @Argument(help: "Rule files, or directories of them.", completion: .file(extensions: ["yaml", "yml"]))
        var files: [String]

        func run() throws {
            let rules = try readRules(files)
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

        func run() async throws { try await runner.run(readRules(files)) }
    }
}

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Follow every plug and run the rules, as a service.",
        discussion: "Example: plugctl daemon --rules /etc/smartplug/rules")

    @OptionGroup var runner: RunnerOptions
    @Option(help: "A rule file, or a directory of them; may be given several times.", completion: .file())
    var rules: [String] = []

    func run() async throws { try await runner.run(readRules(rules)) }
}
