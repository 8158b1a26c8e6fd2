import ArgumentParser
import Automation
import Backtesting
import Charting
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation
import RuleModel
import Scripting
import Terminal

/// `plugctl rules backtest`: runs rules over the recorded history.
struct RuleBacktest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backtest",
        abstract:
            "Run rules and scripts over the recorded history and compare them with the recorded switching.",
        discussion: """
            The daemon's rule engine runs over the history in virtual time, with its waits and schedules. Each firing is \
            listed with its commands, and with how long before or after it the plug was switched in the same way, within ten minutes. \
            Switching is taken from the plug's journal or, without a journal, from its power. The threshold is then the power of \
            its lowest minutes plus a quarter of the difference to its highest minute. No command is sent. A script runs \
            from its beginning with the virtual clock, and its log is printed. The same history always gives the same output.

            Examples:
              plugctl rules backtest television.yaml
              plugctl rules backtest television.lua --against television.yaml
              plugctl rules backtest television.yaml --last 30d --rule "Movie night" --chart
              plugctl rules backtest new.yaml --against old.yaml --from 2026-11-01 --to 2026-12-01
            """)

    @Argument(help: "Rule files, or directories of rule files.", completion: .file(extensions: ["yaml", "yml", "lua"]))
    var files: [String]
    @OptionGroup var window: WindowOptions
    @Option(
        parsing: .unconditionalSingleValue,
        help: "Run only this rule; may be repeated. Rules that it triggers do not run.")
    var rule: [String] = []
    @Option(
        help: "A different version of the rules: list the firings that only one of the versions has.",
        completion: .file(extensions: ["yaml", "yml", "lua"]))
    var against: String?
    @Flag(help: "Also list each edge that was held back and each near miss.")
    var verbose = false
    @Flag(help: "Draw a chart of the plugs' active power with the firings.")
    var chart = false
    @Option(help: "Write the chart to this file as SVG.", completion: .file())
    var svg: String?
    @Option(help: "Write the chart to this file as PNG; requires rsvg-convert.", completion: .file())
    var png: String?
    @Flag(
        help: """
            One JSON object per line: event (firing, heldBack, nearMiss, recorded, summary, omitted; onlyHere, onlyThere, comparison), at, \
            rule, plug, cause, value, since, why, conditions, steps (at, what, plug, outcome, recorded, recordedAfter, \
            recordedBy, wasSo), firings, nearMisses, heldBack, failures, commandsHeldBack; omitted, omittedAsides (counted and not listed); for the recorded span of a plug from, to, away (seconds), damaged.
            """)
    var json = false
    @OptionGroup var place: LocationOptions
    @OptionGroup var options: HistoryOptions

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name at least one rule file") }
        guard against == nil || !(chart || svg != nil || png != nil || verbose) else {
            throw ValidationError("--against cannot be combined with --chart, --svg, --png or --verbose")
        }
        guard !json || !(chart || svg != nil || png != nil) else {
            throw ValidationError("--json cannot be combined with --chart, --svg or --png")
        }
    }

    func run() async throws {
        try await saying {
            let history = try await options.openForReading()
            let set = try await readRuleSet(files)
            let rules = try chosen(set.rules)
            do {
                let scripts = set.scripts.isEmpty ? nil : try VirtualScripts(set.scripts)
                let past = try RulePast(history, rules: rules, scripts, window: window, place: place)
                try past.checkNames(of: rules)
                try past.checkSun(of: rules)
                let report = try past.house.run(rules, over: past.span, tellsAsides: verbose, scripts: scripts)
                if let against {
                    let otherSet = try await readRuleSet([against])
                    let others = try chosen(otherSet.rules, of: against)
                    try past.checkNames(of: others)
                    try past.checkSun(of: others)
                    let there = try past.house.run(
                        others, over: past.span, scripts: try VirtualScripts(otherSet.scripts))
                    return show(BacktestComparison(report, against: there), against, past.zone)
                }
                show(report, past.zone)
                if chart || svg != nil || png != nil {
                    try draw(report, past.recordedPlugs(of: rules, scripts), past, history)
                }
            } catch let error as HistoryError {
                throw CLIError(error)
            }
        }
    }

    private func chosen(_ rules: [Rule], of file: String? = nil) throws(CLIError) -> [Rule] {
        guard !rule.isEmpty else { return rules }
        let found = rules.filter { rule.contains($0.name) }
        // The file of `--against` may lack the rule.
        if let missing = rule.first(where: { name in !rules.contains { $0.name == name } }), file == nil {
            throw CLIError.unknownRule(missing, among: rules.map(\.name))
        }
        return found
    }

    private func show(_ report: BacktestReport, _ zone: ZoneOffsets) {
        if json {
            for record in BacktestRecord.records(of: report) { guard Output.json(record) else { return } }
        } else {
            for line in report.lines(zone) { guard Output.safeLine(line) else { return } }
        }
    }

    private func show(_ comparison: BacktestComparison, _ other: String, _ zone: ZoneOffsets) {
        if json {
            for record in BacktestRecord.records(of: comparison) { guard Output.json(record) else { return } }
        } else {
            let names = (here: files.joined(separator: ", "), there: other)
            for line in comparison.lines(zone, names: names) { guard Output.safeLine(line) else { return } }
        }
    }

    /// Draws the recorded power of the plugs, with a mark at each firing.
    private func draw(
        _ report: BacktestReport, _ plugs: [HistoryPlug], _ past: RulePast, _ history: PowerHistory
    ) throws {
        let isPicture = svg != nil || png != nil
        let columns = 2 * (isPicture ? ChartOutput.width : ChartOutput.columns)
        var series: [Series] = []
        // The chart labels each plug with a letter.
        if plugs.count > 26 { printError("a chart shows at most 26 plugs; \(plugs.count - 26) are not drawn") }
        for plug in plugs.prefix(26) {
            let kept = try StoredPowerSeries(of: plug, from: history, over: past.span, columns: columns)
            series.append(LivePowerSeries(plug: plug.title, kept: kept).series)
        }
        let marks = report.firings.map { firing in
            ChartMark(time: Double(firing.at) / 1000, label: "rule \(firing.rule)")
        }
        let (from, to) = (Double(past.span.lowerBound) / 1000, Double(past.span.upperBound) / 1000)
        let chart = Chart(
            title: "\(series.map(\.name).joined(separator: ", ")), active power", series: series, marks: marks,
            window: ChartWindow(from: from, to: to), zone: past.zone)
        let capabilities = TerminalDevice.standardOutput.capabilities
        try ChartOutput(svg: svg, png: png, theme: .automatic, capabilities: capabilities).show(chart)
    }
}
