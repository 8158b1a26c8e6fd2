import ArgumentParser
import HouseCalendar
import LinuxSystem
import PlugModel
import PowerHistory
import Presentation
import Terminal

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show energy and cost, import recordings, or repair the history.",
        discussion: """
            Examples:
              plugctl history --last 7d --by day
              plugctl history import mains.csv --plug Refrigerator
              plugctl history repair --into ~/history-repaired
            """,
        subcommands: [Show.self, Import.self, Repair.self, SchemaCommand.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show energy and cost by appliance and by hour, day or month.",
            discussion: """
                The history contains the samples that `plugctl daemon` recorded and imported recordings. Days follow the local calendar. \
                Energy is taken from the plug's counter, so it is correct across gaps; energy from times without samples is marked with ~.

                The price of a kWh is set with `plugctl tariff` or in ~/.config/smartplug/tariff.toml:

                  [tariff]
                  currency = "EUR"
                  price = 0.34
                  co2 = 380              # g per kWh, also for the rates below; optional

                  [night]                # any name; several rates are possible
                  from = "22:00"
                  to = "06:00"
                  days = "mon tue wed thu fri"
                  price = 0.24

                Examples:
                  plugctl history
                  plugctl history show Refrigerator --last 7d --by day
                  plugctl history Television Amplifier --from 2026-11-01 --to 2026-12-01 --csv
                  plugctl history Refrigerator --last 90d --sqlite refrigerator.sqlite
                """)

        @Argument(help: "The plugs' names. (default: all recorded plugs)")
        var names: [String] = []
        @OptionGroup var window: WindowOptions
        @Option(help: "hour, day or month. (default: depends on the time span)")
        var by: ShownStep?
        @Flag(help: "Print CSV with a header.")
        var csv = false
        @Flag(
            help: """
                One JSON object per plug and period: plug, from, to, activeEnergy, estimated (Wh), covered (s), \
                meanActivePower, minActivePower, maxActivePower (W), cost, currency, co2 (g).
                """)
        var json = false
        @Option(help: "Write the report and all samples to this new SQLite file.", completion: .file())
        var sqlite: String?
        @Option(
            help: "The tariff file. (default: ~/.config/smartplug/tariff.toml, if it exists)",
            completion: .file())
        var tariff: String?
        @OptionGroup var options: HistoryOptions

        func validate() throws {
            guard [csv, json, sqlite != nil].filter({ $0 }).count < 2 else {
                throw ValidationError("--csv, --json and --sqlite cannot be combined")
            }
        }

        func run() async throws {
            try await saying {
                let history = try await options.openForReading()
                let span = window.span(default: .seconds(30 * 86_400))
                let (from, to) = (Int(span.lowerBound / 1000), Int((span.upperBound + 999) / 1000))
                let zone = ZoneOffsets.local(from: from - 40 * 86_400, to: to + 40 * 86_400)
                let step = by?.step ?? CalendarStep.fitting(seconds: to - from)
                var report = EnergyReport(step: step, zone: zone, tariff: try Tariff.read(tariff))
                let plugs = try chosen(of: history)
                let counters = options.history == nil ? await HistoryOptions.latestCounters() : [:]
                do {
                    for plug in plugs {
                        guard try report.add(plug, from: history, over: from..<to, upTo: counters[plug.id]) else {
                            throw CLIError(
                                "the report would have more than \(CalendarPeriod.limit) rows\nhint: use --by month or a shorter time span"
                            )
                        }
                    }
                    if let sqlite { return try export(report, plugs, history, span, to: sqlite) }
                } catch let error as HistoryError {
                    throw CLIError(error)
                }
                print(report)
                if names.isEmpty { try showBudget(from..<to, history, counters, report) }
                if report.appliances.allSatisfy(\.rows.isEmpty) { sayWhatIsKnown(plugs) }
                reportFeedIn(report.appliances.map { ($0.name, $0.rows.map(\.energy)) })
            }
        }

        /// Prints the use of the budget below a table of all plugs that includes the current time.
        private func showBudget(
            _ span: Range<Int>, _ history: PowerHistory, _ counters: [PlugID: CounterReading], _ report: EnergyReport
        ) throws {
            let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
            guard !json, !csv, span.contains(now - 60), let budget = try BudgetStore().read() else { return }
            let use = try BudgetUse(
                budget, at: now, from: history, upTo: counters, tariff: report.tariff, zone: report.zone)
            if let use { Output.safeLine("budget for \(use.monthName): \(use.words)") }
        }

        private func sayWhatIsKnown(_ plugs: [HistoryPlug]) {
            let spans = plugs.compactMap(\.span)
            guard let first = spans.map(\.lowerBound).min(), let last = spans.map(\.upperBound).max() else { return }
            func day(_ milliseconds: Int64) -> Substring {
                let time = WallTime(millisecondsSince1970: milliseconds)
                return time.iso8601(offset: time.localOffset).prefix(10)
            }
            printError("the history has samples from \(day(first)) to \(day(last))\nhint: use --from \(day(first))")
        }

        private func chosen(of history: PowerHistory) throws(CLIError) -> [HistoryPlug] {
            do throws(HistoryError) {
                if names.isEmpty { return try history.plugs() }
                var plugs: [HistoryPlug] = []
                for name in once(names, in: history) { plugs.append(try history.plug(meantBy: name)) }
                return plugs
            } catch {
                throw CLIError(error)
            }
        }

        private func print(_ report: EnergyReport) {
            if json {
                for record in report.records { guard Output.json(record) else { return } }
            } else if csv {
                for line in report.csv { guard Output.line(line) else { return } }
            } else {
                let device = TerminalDevice.standardOutput
                let capabilities = device.capabilities
                guard report.appliances.contains(where: { !$0.rows.isEmpty }) else {
                    return printError("the history has no samples in this time span")
                }
                guard Output.line(StyledLine(title(of: report), .faint), capabilities) else { return }
                for line in report.lines(width: device.size?.columns, blocks: capabilities.isUnicode) {
                    guard Output.line(line, capabilities) else { return }
                }
            }
        }

        /// Returns the time that the report covers, such as "2026-11-01 00:00 to 2026-11-30 00:00, by day".
        private func title(of report: EnergyReport) -> String {
            let periods = report.appliances.flatMap(\.rows).map(\.energy.period)
            let (from, to) = (periods.map(\.from).min() ?? 0, periods.map(\.to).max() ?? 0)
            func text(_ second: Int) -> Substring {
                let time = WallTime(millisecondsSince1970: Int64(second) * 1000)
                return time.iso8601(offset: time.localOffset).prefix(16)
            }
            return "\(text(from)) to \(text(to)), by \(report.step.rawValue)".replacing("T", with: " ")
        }

        private func export(
            _ report: EnergyReport, _ plugs: [HistoryPlug], _ history: PowerHistory, _ span: ClosedRange<Int64>,
            to path: String
        ) throws {
            var progress = ProgressLine(path)
            defer { progress.clear() }
            do throws(HistoryError) {
                try HistoryExport.write(path) { file throws(HistoryError) in
                    for (index, plug) in plugs.enumerated() {
                        let rows = report.appliances[index].rows
                        try file.add(plug.title, rows.map { ($0.energy, $0.cost?.amount, $0.cost?.co2Grams) })
                        try file.add(samplesOf: plug, from: history, over: span) { progress.show($0, of: $1) }
                    }
                    try file.add(tracesFrom: history, over: span)
                }
            } catch {
                guard case .file(let file) = error.reason, file.reason == .system(.alreadyExists) else { throw error }
                throw CLIError(
                    "cannot write \(path): the file already exists\nhint: choose a new file name, or remove the file")
            }
        }
    }
}

/// Prints a message if the power of a plug was below zero. Energy counts only drawn power, so the table does not show
/// that power.
///
/// - Parameter energies: The energies of each plug, by its name.
func reportFeedIn(_ energies: [(name: String, periods: [PeriodEnergy])]) {
    let names = energies.filter { $0.periods.contains { ($0.least ?? 0) < 0 } }.map(\.name)
    guard !names.isEmpty else { return }
    let named = names.joined(separator: ", ")
    printError("\(named): active power was below 0 W at times; energy fed into the grid is not counted")
}
