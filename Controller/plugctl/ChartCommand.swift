public import ArgumentParser
public import Charting
import DurableFiles
import LinuxClocks
import LocalCalendar
import PlugClient
import PowerHistory
import Presentation
import Terminal

struct ChartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chart",
        abstract: "Draw what plugs drew: the last minutes, a day, years.",
        discussion: """
            A chart is drawn from the history that `plugctl daemon` records and, for what is newer, from the plugs themselves. \
            Where there are more samples than columns, a band shows what was lowest and highest in each, around the mean. \
            Times without samples stay empty. Up to two weeks have what appliances did above the curve: \
            runs of a compressor, a wash with its phases. With --live it scrolls, until q or Control-C.

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
    @Flag(help: "Scroll on as readings come.")
    var live = false
    @Flag(help: "Several plugs on top of each other: the uppermost line is their sum.")
    var stacked = false
    @Flag(help: "Energy as bars, instead of active power.")
    var energy = false
    @Option(help: "With --energy: hour, day or month. (default: what fits the time)")
    var by: ShownStep?
    @Flag(help: "Leave out what appliances did: runs of a compressor, a wash with its phases.")
    var noCycles = false
    @Option(help: "Write it to this file as SVG.", completion: .file())
    var svg: String?
    @Option(help: "Write it to this file as PNG; needs librsvg.", completion: .file())
    var png: String?
    @Option(help: "Colours of the pictures: light, dark, or automatic, as the viewer prefers.")
    var theme = ChartTheme.automatic
    @Flag(
        help: """
            Print what would be drawn instead, one JSON object a line: plug, at, activePower (W), and of what sums up many \
            samples minActivePower, maxActivePower, covered (s). With --energy: what plugctl history --json prints.
            """)
    var json = false
    @OptionGroup var options: HistoryOptions
    @OptionGroup var network: NetworkOptions

    func validate() throws {
        guard !names.isEmpty else { throw ValidationError("name one plug at least") }
        // Plugs are distinguished by letters.
        guard names.count <= 26 else { throw ValidationError("a chart has 26 plugs at most") }
        guard by == nil || energy else { throw ValidationError("--by goes with --energy") }
        guard !energy || !stacked else { throw ValidationError("bars of energy stand on each other without --stacked") }
        let isFile = svg != nil || png != nil
        guard !json || !isFile else { throw ValidationError("--json goes without --svg and --png") }
        guard !live || !(isFile || json || energy || window.from != nil) else {
            throw ValidationError("--live goes without --from, --energy, --json, --svg and --png")
        }
    }

    func run() async throws {
        let capabilities = TerminalDevice.standardOutput.capabilities
        try await saying {
            let usual = energy ? Duration.seconds(30 * 86_400) : .seconds(600)
            let span = window.span(default: usual)
            let history = try options.openIfPresent()
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
                    throw Complaint(error)
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
            throw Complaint("that are more than \(CalendarPeriod.limit) bars\nhint: --by month, or less time")
        }
        let energies = try gathered.energies(periods, from: gathering.history)
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
