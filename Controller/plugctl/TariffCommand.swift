import ArgumentParser
import HouseCalendar
import Presentation

struct TariffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tariff",
        abstract: "Show or change the price of a kWh.",
        discussion: """
            History, reports and the dashboard calculate costs with it. The price of the tariff applies at all times without a rate. If two
            rates apply, the first one is used. The tariff is in ~/.config/smartplug/tariff.toml, which may also be edited; a change by this
            command removes the comments of the file.

            Examples:
              plugctl tariff
              plugctl tariff --currency EUR --price 0.34 --standing-charge 0.42 --co2 380
              plugctl tariff night --from 22:00 --to 06:00 --price 0.24
              plugctl tariff weekend --days "sat sun" --price 0.28
              plugctl tariff night --remove
            """)

    @Argument(help: "The name of a rate at some times of the week. (default: the tariff itself)")
    var rate: String?
    @Option(parsing: .unconditional, help: "The price of a kWh.")
    var price: Double?
    @Option(help: "The name of the currency, such as EUR.")
    var currency: String?
    @Option(help: "The fixed cost per day; 0 for none.")
    var standingCharge: Double?
    @Option(help: "Grams of CO2 per kWh.")
    var co2: Double?
    @Option(help: "The start of the rate as HH:MM, on the quarter of an hour.")
    var from: String?
    @Option(help: "The end of the rate as HH:MM; before the start means on the next day.")
    var to: String?
    @Option(help: "The days on which the rate begins, such as \"sat sun\".")
    var days: String?
    @Flag(help: "Remove the rate, or without a name the whole tariff.")
    var remove = false
    @Option(
        help: "The tariff file. (default: ~/.config/smartplug/tariff.toml)", completion: .file(extensions: ["toml"]))
    var tariff: String?
    @Flag(help: "Print a JSON object: currency, price, co2 (g per kWh), standingCharge (per day), rates.")
    var json = false

    func validate() throws {
        guard rate != nil || from == nil && to == nil && days == nil else {
            throw ValidationError("--from, --to and --days require the name of a rate")
        }
        guard rate == nil || currency == nil && standingCharge == nil else {
            throw ValidationError("--currency and --standing-charge cannot be combined with the name of a rate")
        }
        guard !remove || !changes else { throw ValidationError("--remove cannot be combined with new values") }
    }

    func run() async throws {
        let store = TariffStore(path: tariff)
        try await saying {
            let known = try store.read().map { TariffRecord($0) }
            if remove, rate == nil { return try store.remove() }
            guard remove || changes else {
                guard let known else {
                    throw CLIError(
                        "no tariff is set\nhint: set one, such as with plugctl tariff --currency EUR --price 0.34")
                }
                return try show(known)
            }
            let new = try changed(known)
            try store.write(new)
            try show(new)
        }
    }

    private var changes: Bool {
        price != nil || currency != nil || standingCharge != nil || co2 != nil || from != nil || to != nil
            || days != nil
    }

    private func changed(_ known: TariffRecord?) throws -> TariffRecord {
        guard let rate else { return try changedBase(known) }
        guard var record = known else {
            throw CLIError("a rate requires a tariff\nhint: plugctl tariff --currency EUR --price 0.34")
        }
        let index = record.rates.firstIndex { $0.name == rate }
        if remove {
            guard let index else { throw CLIError(Self.unknown(rate, record)) }
            record.rates.remove(at: index)
            return record
        }
        guard let price = price ?? index.map({ record.rates[$0].price }) else {
            throw CLIError("the new rate \"\(rate)\" has no price\nhint: add --price")
        }
        var changed = index.map { record.rates[$0] } ?? TariffRateRecord(name: rate, price: price)
        changed.price = price
        changed.from = from ?? changed.from
        changed.to = to ?? changed.to
        changed.days = days ?? changed.days
        changed.co2 = co2 ?? changed.co2
        if let index { record.rates[index] = changed } else { record.rates.append(changed) }
        return record
    }

    private func changedBase(_ known: TariffRecord?) throws -> TariffRecord {
        guard let currency = currency ?? known?.currency, let price = price ?? known?.price else {
            throw CLIError("a new tariff requires --currency and --price")
        }
        var record = known ?? TariffRecord(currency: currency, price: price)
        (record.currency, record.price) = (currency, price)
        record.co2 = co2 ?? record.co2
        if let standingCharge { record.standingCharge = standingCharge == 0 ? nil : standingCharge }
        return record
    }

    private static func unknown(_ rate: String, _ record: TariffRecord) -> String {
        let names = record.rates.map(\.name).joined(separator: ", ")
        return "the tariff has no rate \"\(rate)\"" + (names.isEmpty ? "" : "\nhint: its rates are \(names)")
    }

    private func show(_ record: TariffRecord) throws {
        if json { Output.json(record) } else { record.lines.forEach { Output.safeLine($0) } }
    }
}
