import ArgumentParser
import Automation
import Backtesting
import Daemon
import Foundation
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation
import RuleModel

/// `plugctl rules explain`: shows the recorded firings of a rule, and explains missing ones.
struct RuleExplain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why a rule fired or did not fire.",
        discussion: """
            For each firing, each edge that was held back and each near miss, the command shows the trigger with its value and time, \
            the conditions that held, the commands and their answers; for a function of a script also its log and the reason of a \
            failure. The daemon keeps these traces in the history for 400 days.

            With --at it shows the traces within two minutes of that time. If there are none, it explains the absence from the rule's \
            file and the recorded samples: whether each trigger was armed, how close the power came, and which conditions held.

            Examples:
              plugctl rules explain "Movie night"
              plugctl rules explain "Movie night" --at "2026-11-20 20:15"
              plugctl rules explain television.lua:5
              plugctl rules explain "Movie night" --last 7d --json
            """)

    @Argument(help: "The rule's name.")
    var name: String
    @Option(help: "Explain what happened, or did not happen, at this local time: 2026-11-20T20:15.")
    var at: Moment?
    @OptionGroup var window: WindowOptions
    @Option(
        name: .customLong("rules"),
        help: """
            With --at: a rule file, or a directory of rule files; may be given several times. (default: ~/.config/smartplug/rules, \
            if it exists)
            """,
        completion: .file(extensions: ["yaml", "yml", "lua"]))
    var files: [String] = []
    @Flag(
        help: """
            One JSON object per trace: id, rule, at, since (milliseconds since 1970), outcome (fired, heldBack, nearMiss), cause, \
            plug, value, why, conditions, steps. If nothing happened at the time of --at, one object: rule, at, triggers, \
            conditions, wouldHave.
            """)
    var json = false
    @OptionGroup var place: LocationOptions
    @OptionGroup var options: HistoryOptions

    /// The number of traces that are shown if the user sets no time.
    private static let usual = 10
    /// The maximum number of traces that are shown.
    private static let most = 10_000

    func validate() throws {
        guard at == nil || window.last == nil && window.from == nil else {
            throw ValidationError("--at cannot be combined with --last, --from or --to")
        }
    }

    func run() async throws {
        try await saying {
            let history = try await options.openForReading()
            do {
                let rules = try await presentRules()
                let name = try known(in: history, rules)
                let traces = try traces(of: name, in: history)
                guard traces.isEmpty else { return show(traces) }
                guard let at else {
                    return printError(
                        "\"\(name)\" has no traces in this time span\nhint: --at TIME explains why the rule did not fire"
                    )
                }
                try explainAbsence(of: name, rules, at: at.milliseconds, history)
            } catch let error as HistoryError {
                throw CLIError(error)
            }
        }
    }

    // MARK: Recorded traces

    private func presentRules() async throws -> [Rule] {
        let usual = UserDirectories.configuration + "/smartplug/rules"
        if !files.isEmpty { return try await readRuleSet(files).rules }
        // The usual files are read only for `--at`, because other uses do not need the rules and must not fail because
        // of errors in the files.
        guard at != nil, FileManager.default.fileExists(atPath: usual) else { return [] }
        return try await readRuleSet([usual]).rules
    }

    /// Returns the rule's name in its original spelling. Case is ignored if the match is unique.
    private func known(in history: PowerHistory, _ rules: [Rule]) throws -> String {
        let all = Set(try history.tracedRules() + rules.map(\.name))
        if all.contains(name) { return name }
        let near = all.filter { $0.lowercased() == name.lowercased() }
        if near.count == 1, let only = near.first { return only }
        throw CLIError.unknownRule(name, among: all.sorted())
    }

    private func traces(of name: String, in history: PowerHistory) throws(HistoryError) -> [RuleTrace] {
        let stored: [StoredTrace]
        if let at {
            let near = RuleAbsence.near
            stored = try history.traces(
                of: name, from: at.milliseconds - near, to: at.milliseconds + near, newest: Self.most)
        } else if window.last != nil || window.from != nil {
            let span = window.span(default: .seconds(86_400))
            stored = try history.traces(of: name, from: span.lowerBound, to: span.upperBound, newest: Self.most)
        } else {
            stored = try history.traces(of: name, from: .min, to: .max, newest: Self.usual)
        }
        if stored.count == Self.most {
            printError("showing only the newest \(Self.most) traces\nhint: use --from and --to for a shorter time span")
        }
        return stored.compactMap { RuleTrace($0) }
    }

    private func show(_ traces: [RuleTrace]) {
        guard !json else {
            for trace in traces { guard Output.json(trace) else { return } }
            return
        }
        let (from, to) = (traces[0].at / 1000, traces[traces.count - 1].at / 1000)
        let zone = ZoneOffsets.local(from: Int(from) - 86_400, to: Int(to) + 86_400)
        for line in traces.flatMap({ $0.lines(zone) }) { guard Output.safeLine(line) else { return } }
    }

    // MARK: Missing firings

    private func explainAbsence(of name: String, _ rules: [Rule], at time: Int64, _ history: PowerHistory) throws {
        guard let rule = rules.first(where: { $0.name == name }) else {
            throw CLIError(
                """
                "\(name)" has no traces within two minutes of this time, and its rule file was not found
                hint: name the file with --rules FILE
                """)
        }
        let past = try RulePast(history, over: time - RuleAbsence.arming...time + RuleAbsence.near, place: place)
        try past.checkSun(of: [rule])
        let absence = try past.house.absence(of: rule, among: rules, at: time)
        if json {
            Output.json(absence)
        } else {
            for line in absence.lines(past.zone) { guard Output.safeLine(line) else { return } }
        }
    }
}
