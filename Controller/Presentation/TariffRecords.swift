public import ConfigurationFiles
public import HouseCalendar

/// The prices of a kilowatt-hour: the output of `plugctl tariff --json`, and the tariff in the dashboard's API.
public struct TariffRecord: Codable, Hashable, Sendable {
    /// The currency as it is printed, such as EUR.
    public var currency: String
    /// The price of a kWh at all times without a rate.
    public var price: Double
    /// Grams of CO2 per kWh at all times without a rate; omitted if unknown.
    public var co2: Double?
    /// The fixed cost per day; omitted if it is zero.
    public var standingCharge: Double?
    /// The rates at some times of the week. The first one that applies is used.
    public var rates: [TariffRateRecord]

    /// Creates a record without rates.
    public init(currency: String, price: Double) {
        self.currency = currency
        self.price = price
        rates = []
    }

    /// Creates the record of a tariff.
    public init(_ tariff: Tariff) {
        self.init(currency: tariff.currency, price: tariff.otherwise.price)
        co2 = tariff.otherwise.co2
        standingCharge = tariff.standingCharge == 0 ? nil : tariff.standingCharge
        rates = tariff.rates.map { TariffRateRecord($0, base: co2) }
    }

    /// Text for the user.
    public var lines: [String] {
        let base = [
            "\(currency) \(price) per kWh", co2.map { "\(number($0)) g CO2 per kWh" },
            standingCharge.map { "\(currency) \($0) per day" },
        ].compactMap(\.self).joined(separator: ", ")
        return [base] + rates.map { "  \($0.text(currency))" }
    }

    /// The text of a tariff file.
    public var toml: String {
        let base = [
            "currency = \(tomlString(currency))", "price = \(price)", co2.map { "co2 = \($0)" },
            standingCharge.map { "standing_charge = \($0)" },
        ]
        let tables = [("tariff", base)] + rates.map { (tomlString($0.name), $0.fields) }
        return tables.map { name, fields in
            (["[\(name)]"] + fields.compactMap(\.self)).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// Checks the values and returns the tariff.
    ///
    /// - Throws: `ConfigurationError` with all mistakes.
    public func tariff() throws(ConfigurationError) -> Tariff {
        let names = rates.map(\.name)
        let unusable = names.first {
            $0.isEmpty || $0.utf8.count > 64 || $0 == "tariff" || $0.contains { $0.isNewline }
        }
        let twice = names.first { name in names.count { $0 == name } > 1 }
        if let unusable {
            throw Self.mistake("\"\(unusable)\" cannot be the name of a rate; use 1 to 64 bytes other than \"tariff\"")
        }
        if let twice { throw Self.mistake("several rates have the name \"\(twice)\"") }
        return try Tariff(Array(toml.utf8), file: "the tariff")
    }

    private static func mistake(_ words: String) -> ConfigurationError {
        ConfigurationError(file: "the tariff", mistakes: [ConfigurationMistake(.invalid(words))])
    }
}

/// A rate of ``TariffRecord``.
public struct TariffRateRecord: Codable, Hashable, Sendable {
    /// The name, which differs from those of other rates.
    public var name: String
    /// The price of a kWh.
    public var price: Double
    /// The start as HH:MM, on the quarter of an hour; omitted for midnight.
    public var from: String?
    /// The end as HH:MM; before the start means on the next day; omitted for midnight.
    public var to: String?
    /// The days on which the rate begins, such as "sat sun"; omitted for all days.
    public var days: String?
    /// Grams of CO2 per kWh; omitted for the value of the tariff.
    public var co2: Double?

    /// Creates a rate for all times.
    public init(name: String, price: Double) {
        self.name = name
        self.price = price
    }

    /// - Parameter base: the CO2 of the tariff.
    fileprivate init(_ rate: Tariff.Rate, base: Double?) {
        self.init(name: rate.name, price: rate.price)
        from = rate.from == 0 ? nil : Self.time(rate.from)
        to = rate.to == 1440 ? nil : Self.time(rate.to)
        days = rate.days.count == 7 ? nil : rate.days.sorted().map { Tariff.weekdayNames[$0] }.joined(separator: " ")
        co2 = rate.co2 == base ? nil : rate.co2
    }

    private static func time(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    fileprivate var fields: [String?] {
        [
            "price = \(price)", from.map { "from = \(tomlString($0))" },
            to.map { "to = \(tomlString($0))" }, days.map { "days = \(tomlString($0))" },
            co2.map { "co2 = \($0)" },
        ]
    }

    fileprivate func text(_ currency: String) -> String {
        let time = from == nil && to == nil ? "all day" : "\(from ?? "00:00") to \(to ?? "24:00")"
        let parts = ["\(name): \(currency) \(price)", time, days, co2.map { "\(number($0)) g CO2 per kWh" }]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}
