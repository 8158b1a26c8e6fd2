import ArgumentParser
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation

/// A month as users write it: `2026-10`.
struct Month: ExpressibleByArgument, CustomStringConvertible {
    let first: CivilTime
    let description: String

    init?(argument: String) {
        guard let first = CivilTime(parsing: argument + "-01") else { return nil }
        (self.first, description) = (first, argument)
    }
}

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page about a month: energy, cost and base load.",
        discussion: """
            The page shows the energy of each day and of each appliance, compared with the preceding month, and the base load: the power that \
            all appliances together exceed in 95 % of the time. Costs require the price of a kWh, which \
            `plugctl tariff` sets. The page compares the month with the budget that `plugctl budget` sets.

            Examples:
              plugctl report
              plugctl report --month 2026-10 --html october.html
              plugctl report --pdf report.pdf
            """)

    @Option(help: "The month, such as 2026-10. (default: the last month that is over)")
    var month: Month?
    @Option(
        help: "Write the page to this file. (default: energy-MONTH.html, unless --pdf is given)", completion: .file())
    var html: String?
    @Option(help: "Write the page to this file as PDF; requires weasyprint.", completion: .file())
    var pdf: String?
    @Option(help: "The tariff file. (default: ~/.config/smartplug/tariff.toml, if it exists)", completion: .file())
    var tariff: String?
    @OptionGroup var options: HistoryOptions

    func run() async throws {
        try await saying {
            let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
            let zone = zone(now)
            let (before, month) = try months(now, zone)
            let history = try await options.openForReading()
            let counters = options.history == nil ? await HistoryOptions.latestCounters() : [:]
            let tariff = try Tariff.read(tariff)
            let end = min(month.to, now)
            let quarters = CalendarPeriod.all(.quarter, from: month.from, to: end, zone: zone) ?? []
            var days = EnergyReport(step: .day, zone: zone, tariff: tariff)
            var preceding = EnergyReport(step: .month, zone: zone, tariff: tariff)
            var energies: [[PeriodEnergy]] = []
            do throws(HistoryError) {
                for plug in try history.plugs() {
                    let latest = counters[plug.id]
                    _ = try days.add(plug, from: history, over: month.from..<end, upTo: latest)
                    _ = try preceding.add(plug, from: history, over: before.from..<before.to)
                    energies.append(try history.energy(of: plug.id, periods: quarters, upTo: latest))
                }
            } catch {
                throw CLIError(error)
            }
            guard days.appliances.contains(where: { !$0.rows.isEmpty }) else {
                let hint = "hint: `plugctl history --last 1y` shows the months that it has"
                throw CLIError("the history has no samples in \(text(month))\n\(hint)")
            }
            let load = BaseLoad(of: energies, tariff: tariff, zone: zone)
            let use = try BudgetStore().read().flatMap {
                BudgetUse($0, in: month, until: end, energies, tariff: tariff, zone: zone)
            }
            try write(
                MonthReport(month, until: end, days: days, before: preceding, baseLoad: load, budget: use))
        }
    }

    /// The local time zone around the month.
    private func zone(_ now: Int) -> ZoneOffsets {
        let about = month.map { Int($0.first.localSeconds) } ?? now
        return ZoneOffsets.local(from: about - 100 * 86_400, to: about + 70 * 86_400)
    }

    /// Returns the preceding month and the month.
    private func months(_ now: Int, _ zone: ZoneOffsets) throws(CLIError) -> (CalendarPeriod, CalendarPeriod) {
        let about = month.map { Int($0.first.localSeconds) } ?? now
        let all = CalendarPeriod.all(.month, from: about - 70 * 86_400, to: about + 2 * 86_400, zone: zone) ?? []
        let index = all.lastIndex { period in
            guard let first = month?.first else { return period.to <= now }
            return (period.start.year, period.start.month) == (first.year, first.month)
        }
        guard let index, index > 0, all[index].from < now else {
            throw CLIError("\(month.map { "\($0)" } ?? "the month") is in the future\nhint: choose an earlier month")
        }
        return (all[index - 1], all[index])
    }

    private func text(_ month: CalendarPeriod) -> String {
        "\(month.start.year)-\(month.start.month < 10 ? "0" : "")\(month.start.month)"
    }

    private func write(_ report: MonthReport) throws {
        let page = report.html
        let path = html ?? (pdf == nil ? "energy-\(text(report.month)).html" : nil)
        do {
            if let path {
                try FileStore().writeOutput(path, Array(page.utf8))
                Output.line("wrote \(path)")
            }
            if let pdf {
                try FileStore().writeOutput(pdf, try PrintedPage.pdf(html: page))
                Output.line("wrote \(pdf)")
            }
        } catch let error as FileError {
            throw CLIError(error)
        }
    }
}
