import ArgumentParser
import Daemon
import DaemonClient
import Effects
import HouseCalendar
import LinuxSystem
import Presentation
import ProtocolCore
import RuleChecks
import RuleFiles
import RuleModel

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
        let findings =
            RuleCheck.findings(
                rules, in: house, machines: machines,
                knowsSun: daylight != nil, sun: daylight.map(Self.yearAhead) ?? .unknown)
            + EffectPolicy(limits: OutsideFile.limits()).findings(rules)
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
        let errors = found.count { $0.severity == Diagnostic.Severity.error.rawValue }
        if !json, errors > 0, read.isSound { text.append(summary(rules.count, errors, warnings: found.count - errors)) }
        if !json, !text.isEmpty { complainOfFile(text.joined(separator: "\n")) }
        if !json, errors == 0, read.isSound { Output.line(summary(rules.count, 0, warnings: found.count)) }
        guard read.isSound, errors == 0, !strict || found.isEmpty else { throw ExitCode.failure }
    }

    private static func yearAhead(_ daylight: Daylight) -> SunTimes {
        let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
        let zone = ZoneOffsets.local(from: now - 2 * 86_400, to: now + 368 * 86_400)
        let today = Int64(now / 86_400)
        return daylight.times(days: today...today + 365, zone: zone) { Instant(nanoseconds: $0 * 1_000_000_000) }
    }

    private func summary(_ rules: Int, _ errors: Int, warnings: Int) -> String {
        func counted(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
        return counted(rules, "rule") + ", " + (errors == 0 ? "no errors" : counted(errors, "error"))
            + (warnings == 0 ? "" : ", " + counted(warnings, "warning"))
    }
}

/// A finding, for `--json`.
struct RuleFindingRecord: Encodable {
    var file: String
    var line: Int
    var column: Int
    /// error or warning.
    var severity: String
    var message: String
    var hint: String?
    /// The rule's name, if the file could be parsed.
    var rule: String?

    init(_ diagnostic: Diagnostic, rule: String?) {
        file = diagnostic.file
        line = diagnostic.place.line
        column = diagnostic.place.column
        severity = diagnostic.severity.rawValue
        message = diagnostic.message
        hint = diagnostic.hint
        self.rule = rule
    }
}
