import ArgumentParser
import HouseCalendar
import LinuxSystem
import PowerHistory
import Presentation

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget",
        abstract: "Show or change the budget of the house per month.",
        discussion: """
            The daemon compares the month with the budget and notifies the receivers of `plugctl help notify`, once per month each, when 80 % \
            of the budget are used and the projection for the month is above the budget, and when the budget is used up. The projection \
            continues the use of the time with data; it requires data of at least a day. The budget is in ~/.config/smartplug/budget.toml.

            Examples:
              plugctl budget
              plugctl budget --cost 60
              plugctl budget --energy 150
              plugctl budget --remove
            """)

    @Option(help: "The cost per month in the currency of the tariff, with its fixed cost per day.")
    var cost: Double?
    @Option(help: "The energy per month in kWh.")
    var energy: Double?
    @Flag(help: "Remove the budget.")
    var remove = false
    @Option(
        help: "The budget file. (default: ~/.config/smartplug/budget.toml)", completion: .file(extensions: ["toml"]))
    var budget: String?
    @Option(
        help: "The tariff file. (default: ~/.config/smartplug/tariff.toml, if it exists)",
        completion: .file(extensions: ["toml"]))
    var tariff: String?
    @OptionGroup var options: HistoryOptions
    @Flag(
        help: """
            Print a JSON object: cost, currency or activeEnergy (Wh), month (from, to, used, projected, elapsed and covered in s).
            """)
    var json = false

    func validate() throws {
        guard [cost != nil, energy != nil, remove].filter({ $0 }).count < 2 else {
            throw ValidationError("--cost, --energy and --remove cannot be combined")
        }
        guard cost.map(Budget.costLimits.contains) ?? true else {
            throw ValidationError("--cost must be 0.01 to 1000000000")
        }
        guard energy.map(Budget.energyLimits.contains) ?? true else {
            throw ValidationError("--energy must be 0.001 to 1000000 kWh")
        }
    }

    func run() async throws {
        let store = BudgetStore(path: budget)
        try await saying {
            if remove { return try store.remove() }
            let tariff = try Tariff.read(tariff)
            if let new = try changed(tariff) { try store.write(new) }
            guard let budget = try store.read() else {
                throw CLIError("no budget is set\nhint: set one, such as with plugctl budget --energy 150")
            }
            try await show(budget, tariff)
        }
    }

    /// Returns the new budget, or nil if the user gave none.
    private func changed(_ tariff: Tariff?) throws(CLIError) -> Budget? {
        if let energy { return .energy(kilowattHours: energy) }
        guard let cost else { return nil }
        guard let tariff else {
            throw CLIError(
                "--cost requires a tariff\nhint: plugctl tariff --currency EUR --price 0.34, or use --energy")
        }
        return .cost(cost, currency: tariff.currency)
    }

    private func show(_ budget: Budget, _ tariff: Tariff?) async throws {
        let now = Int(WallTime.now.nanosecondsSince1970 / 1_000_000_000)
        let zone = ZoneOffsets.local(from: now - 70 * 86_400, to: now + 70 * 86_400)
        var use: BudgetUse?
        if let history = try await options.openForReadingIfPresent() {
            let counters = options.history == nil ? await HistoryOptions.latestCounters() : [:]
            do throws(HistoryError) {
                use = try BudgetUse(budget, at: now, from: history, upTo: counters, tariff: tariff, zone: zone)
            } catch {
                throw CLIError(error)
            }
        }
        guard !json else {
            Output.json(BudgetRecord(budget, use, zone: zone))
            return
        }
        Output.safeLine(budget.words)
        if let use {
            Output.safeLine("\(use.monthName): \(use.words)")
        } else if budget.fits(tariff) {
            Output.line("the history has no data of this month")
        } else {
            let hint = "set the budget again with plugctl budget --cost, or the currency with plugctl tariff --currency"
            printError("the tariff is not in \(budget.unit), so the use is not known\nhint: \(hint)")
        }
    }
}
