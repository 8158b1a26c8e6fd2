import ArgumentParser
import Daemon
import DaemonClient
import Effects
import LinuxSystem
import Presentation
import RuleEditing
import RuleFiles

/// `plugctl rules check`: checks rule files and scripts.
struct RuleCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check rule files and scripts without running them.",
        discussion: """
            The command finds syntax errors, unknown names of plugs and machines, conditions that can never hold, triggers that never arm, commands that \
            a plug does not support, rules that trigger each other endlessly (also through power), rules that contradict each other, \
            and actions that daemon.toml forbids. Check files that run together in one call. A script is loaded once, as when it runs; \
            its functions are not checked, except for plug names written as plug("...").

            Errors are listed first, then warnings. The exit status is 1 if there are errors, and 0 if there are only warnings.

            Examples:
              plugctl rules check
              plugctl rules check television.yaml laundry.yaml
              plugctl rules check --json | jq -r '"\\(.file):\\(.line): \\(.message)"'
            """)

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var history: HistoryOptions
    @OptionGroup var place: LocationOptions
    @Flag(help: "Do not ask the daemon and the history for known plugs and their capabilities.")
    var offline = false
    @Flag(help: "Treat warnings as errors.")
    var strict = false
    @Flag(help: "One JSON object per finding: file, line, column, severity (error, warning), message, hint, rule.")
    var json = false
    @Argument(
        help: "Rule files, or directories of rule files. (default: ~/.config/smartplug/rules)",
        completion: .file(extensions: ["yaml", "yml", "lua"]))
    var files: [String] = []

    func run() async throws {
        let read = try ReadRuleFiles(files.isEmpty ? [UserDirectories.configuration + "/smartplug/rules"] : files)
        let rules = read.files.flatMap(\.rules)
        let asked = CheckedHouse(
            daemon: daemon.daemon(), history: offline ? nil : try await history.openForReadingIfPresent())
        let house = offline ? nil : await asked.plugs()
        let machines =
            try await MachineFile.read().machines.map(\.name)
            + MachineFile.records(offline ? nil : daemon.daemon()).map(\.machine)
        let daylight = try place.read()
        let context = RuleCheckContext(
            plugs: house, machines: machines, daylight: daylight, policy: EffectPolicy(limits: OutsideFile.limits()))
        let findings = context.findings(rules)
        var all: [(diagnostic: Diagnostic, rule: String?)] = read.diagnostics.map { ($0, nil) }
        var first = 0
        for file in read.files {
            all += file.diagnostics(for: findings, first: first).map { ($0, file.rule(at: $0.place)) }
            first += file.rules.count
            all += file.unknownPlugs(in: house).map { ($0, nil) }
        }
        let ordered = all.filter { $0.diagnostic.severity == .error } + all.filter { $0.diagnostic.severity != .error }
        let found = ordered.map { RuleFindingRecord($0.diagnostic, rule: $0.rule) }
        var text = ordered.map(\.diagnostic.description)
        if json { for record in found where !Output.json(record) { return } }
        let errors = found.count(where: \.isError)
        if !json, errors > 0, read.isSound { text.append(summary(rules.count, errors, warnings: found.count - errors)) }
        if !json, !text.isEmpty { complainOfFile(text.joined(separator: "\n")) }
        if !json, errors == 0, read.isSound { Output.line(summary(rules.count, 0, warnings: found.count)) }
        guard read.isSound, errors == 0, !strict || found.isEmpty else { throw ExitCode.failure }
    }

    private func summary(_ rules: Int, _ errors: Int, warnings: Int) -> String {
        func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        return counted(rules, "rule") + ", " + (errors == 0 ? "no errors" : counted(errors, "error"))
            + (warnings == 0 ? "" : ", " + counted(warnings, "warning"))
    }
}
