public import ArgumentParser
public import Charting
import HouseCalendar
import LinuxSystem
import PlugClient
import PowerHistory
import Presentation
import Terminal

struct ChartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chart",
        abstract: "Draw a chart of the power or energy of plugs.",
        discussion: """
            The data comes from the history that `plugctl daemon` records and, for newer samples, from the plugs. \
            If there are more samples than columns, a band shows the lowest and highest value of each column around the mean. \
            Times without samples stay empty. Charts of up to two weeks show appliance cycles above the curve, such as \
            compressor runs or the phases of a wash. With --live the chart scrolls until q or Control-C is pressed.

            Examples:
              plugctl chart Refrigerator
              plugctl chart Television Amplifier --last 8h --stacked
              plugctl chart Kettle --live
              plugctl chart "Washing Machine" --from 2026-11-20 --to 2026-11-21 --svg wash.svg --png wash.png
              plugctl chart Refrigerator --energy --by day --last 30d
            """)

    @Argument(help: "The plugs' names.")
    var names: [String]
    @OptionGroup var window: WindowOptions
    @Flag(help: "Scroll as new readings arrive.")
    var live = false
    @Flag(help: "Stack several plugs; the top line is their sum.")
    var stacked = false
    @Flag(help: "Energy as bars, instead of active power.")
    var energy = false
    @Option(help: "With --energy: hour, day or month. (default: depends on the time span)")
    var by: ShownStep?
    @Flag(help: "Do not mark appliance cycles, such as compressor runs or the phases of a wash.")
    var noCycles = false
    @Option(help: "Write the chart to this file as SVG.", completion: .file())
    var svg: String?
    @Option(help: "Write the chart to this file as PNG; requires rsvg-convert.", completion: .file())
    var png: String?
    @Option(help: "Colours of SVG and PNG files: light, dark, or automatic (the viewer's preference).")
    var theme = ChartTheme.automatic
    @Flag(
        help: """
            Print the data instead, one JSON object per line: plug, at, activePower (W) and, for summaries of several samples, \
            minActivePower, maxActivePower, covered (s). With --energy: the same objects as plugctl history --json.
            """)
    var json = false
    @OptionGroup var options: HistoryOptions
    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard !names.isEmpty else { throw ValidationError("name at least one plug") }
        // The chart labels each plug with a letter.
        guard names.count <= 26 else { throw ValidationError("a chart shows at most 26 plugs") }
        guard by == nil || energy else { throw ValidationError("--by requires --energy") }
        guard !energy || !stacked else { throw ValidationError("--stacked is implied by --energy") }
        let isFile = svg != nil || png != nil
        guard !json || !isFile else { throw ValidationError("--json cannot be combined with --svg or --png") }
        guard !live || !(isFile || json || energy || window.from != nil) else {
            throw ValidationError("--live cannot be combined with --from, --energy, --json, --svg or --png")
        }
    }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        try await saying {
            let usual = energy ? Duration.seconds(30 * 86_400) : .seconds(600)
            let span = window.span(default: usual)
            let history = try await options.openForReadingIfPresent()
            let gathering = ChartGathering(
                names: once(names, in: history), span: span,
                columns: 2 * (isPicture ? ChartOutput.width : ChartOutput.columns), history: history, network: network,
                readsCourses: !energy)
            try await untilInterrupted {
                if live, capabilities.movesCursor {
                    try await gathering.follow { found, plugs in
                        let live = LiveChart(
                            found: found, plugs: plugs, length: window.last?.duration ?? usual,
                            style: stacked ? .stacked : .overlaid)
                        await live.run(capabilities)
                    }
                } else {
                    try draw(try await gathering.all(), gathering, capabilities)
                }
            }
        }
    }

    private var isPicture: Bool { svg != nil || png != nil }

    private func draw(_ gathered: Gathered, _ gathering: ChartGathering, _ capabilities: Capabilities) throws {
        let output = ChartOutput(svg: svg, png: png, theme: theme, capabilities: capabilities)
        let (from, to) = (gathering.span.lowerBound, gathering.span.upperBound)
        let seconds = Double(from) / 1000...Double(to) / 1000
        guard energy else {
            if json {
                let records = gathered.source.courses.flatMap {
                    $0.records(from: seconds.lowerBound, to: seconds.upperBound)
                }
                for record in records { guard Output.json(record) else { return } }
                return
            }
            let zone = ZoneOffsets.local(from: Int(seconds.lowerBound), to: Int(seconds.upperBound) + 1)
            var source = gathered.source
            if !noCycles {
                do throws(HistoryError) {
                    try source.findCycles(of: gathered.plugs, from: gathering.history, over: gathering.span)
                } catch {
                    throw CLIError(error)
                }
            }
            let chart = source.chart(seconds, style: stacked ? .stacked : .overlaid, zone: zone)
            return try output.show(chart)
        }
        let (first, last) = (Int(from / 1000), Int((to + 999) / 1000))
        let step = by?.step ?? CalendarStep.fitting(seconds: last - first)
        let margin = 40 * 86_400
        let zone = ZoneOffsets.local(from: first - margin, to: last + margin)
        guard let periods = CalendarPeriod.all(step, from: first, to: last, zone: zone) else {
            throw CLIError(
                "the chart would have more than \(CalendarPeriod.limit) bars\nhint: use --by month or a shorter time span"
            )
        }
        let energies = try gathered.energies(periods, from: gathering.history)
        defer { reportFeedIn(zip(gathered.source.courses, energies).map { ($0.plug, $1) }) }
        if json {
            var report = EnergyReport(step: step, zone: zone, tariff: nil)
            for (course, energies) in zip(gathered.source.courses, energies) {
                report.add(course.plug, energies, quarters: [])
            }
            for record in report.records { guard Output.json(record) else { return } }
        } else {
            try output.show(gathered.source.energyChart(step, periods, energies, zone: zone))
        }
    }
}

extension ChartTheme: ExpressibleByArgument {}
