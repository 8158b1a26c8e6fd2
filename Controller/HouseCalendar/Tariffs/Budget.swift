public import ConfigurationFiles

/// The most that a house should use per month.
public enum Budget: Codable, Hashable, Sendable {
    /// An amount in a currency. It includes the fixed cost per day of the tariff.
    case cost(Double, currency: String)
    /// Energy in kWh.
    case energy(kilowattHours: Double)

    /// The limits of an amount in a currency.
    public static let costLimits = 0.01...1_000_000_000.0
    /// The limits of an energy in kWh.
    public static let energyLimits = 0.001...1_000_000.0

    /// The amount in ``unit``.
    public var amount: Double {
        switch self {
        case .cost(let amount, _): amount
        case .energy(let kilowattHours): kilowattHours
        }
    }

    /// The currency, or `kWh`.
    public var unit: String {
        switch self {
        case .cost(_, let currency): currency
        case .energy: "kWh"
        }
    }

    /// Returns true if the use can be computed: a budget in a currency requires a tariff in this currency.
    public func fits(_ tariff: Tariff?) -> Bool {
        switch self {
        case .cost(_, let currency): tariff?.currency == currency
        case .energy: true
        }
    }
}

extension Budget {
    /// Reads a budget (TOML). The table has either a cost with its currency or an energy in kWh:
    ///
    /// ```toml
    /// [budget]
    /// cost = 60.0
    /// currency = "EUR"
    /// ```
    ///
    /// - Throws: `ConfigurationError` with all errors.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        let budget = Self(reader.table("budget"))
        reader.reportUnknown()
        guard let budget, reader.mistakes.isEmpty else {
            throw ConfigurationError(file: file, mistakes: reader.mistakes)
        }
        self = budget
    }

    private init?(_ table: ConfigurationReader.Table) {
        let cost = table.number("cost", Self.costLimits, "per month")
        let currency = table.text("currency", "the name of the currency", longest: 8)
        let energy = table.number("energy", Self.energyLimits, "kWh per month")
        switch (table.has("cost"), table.has("energy")) {
        case (true, true):
            table.wrong(.contradiction("a budget has either a cost or an energy"), "energy")
        case (true, false):
            if !table.has("currency") { table.wrong(.missing("currency = \"...\", as in the tariff")) }
            guard let cost, let currency else { return nil }
            self = .cost(cost, currency: currency)
            return
        case (false, true):
            if table.has("currency") { table.wrong(.contradiction("only a cost has a currency"), "currency") }
            guard let energy else { return nil }
            self = .energy(kilowattHours: energy)
            return
        case (false, false): table.wrong(.missing("[budget] with a cost or an energy per month"))
        }
        return nil
    }
}
