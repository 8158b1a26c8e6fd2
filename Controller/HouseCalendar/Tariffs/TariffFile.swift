public import ConfigurationFiles

extension Tariff {
    /// The maximum size of a file in bytes.
    public static let fileLimit = ConfigurationText.limit
    /// The maximum number of rates, more than any supplier has. It limits the work per quarter of an hour.
    static let rateLimit = 64
    /// The days of the week in a file, from Monday.
    public static let weekdayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Reads a tariff (TOML). Each table except `[tariff]` is a rate; the user chooses its name. The table `[tariff]`
    /// applies at all times without a rate:
    ///
    /// ```toml
    /// [tariff]
    /// currency = "EUR"
    /// price = 0.34             # per kWh
    /// co2 = 380                # g per kWh, optional
    /// standing_charge = 0.42   # per day, optional
    ///
    /// [night]
    /// from = "22:00"
    /// to = "06:00"
    /// price = 0.24
    ///
    /// [weekend]
    /// days = "sat sun"
    /// price = 0.28
    /// ```
    ///
    /// Times are multiples of a quarter of an hour. A rate without `co2` uses the value of `[tariff]`. If two rates
    /// apply, the first one in the file is used.
    ///
    /// - Throws: `ConfigurationError` with all errors.
    public init(_ bytes: [UInt8], file: String) throws(ConfigurationError) {
        let reader = try ConfigurationReader(bytes, file: file)
        self.init(reader)
        reader.reportUnknown()
        guard reader.mistakes.isEmpty else { throw ConfigurationError(file: file, mistakes: reader.mistakes) }
    }

    private init(_ reader: ConfigurationReader) {
        let base = reader.table("tariff")
        if !base.isThere { base.wrong(.missing("[tariff] with the default price of a kWh")) }
        self.init(
            currency: base.text("currency", "the name of the currency", longest: 8) ?? "",
            otherwise: Rate(base, name: ""), standingCharge: base.number("standing_charge", 0...1000, "per day") ?? 0)
        let others = reader.text.tables.keys.filter { $0 != "tariff" }
        let inOrder = others.sorted { (reader.text.line($0) ?? 0, $0) < (reader.text.line($1) ?? 0, $1) }
        for name in inOrder { rates.append(Rate(times: reader.table(name), co2: otherwise.co2)) }
        if inOrder.count > Self.rateLimit {
            base.wrong(.outOfRange(found: "a file with \(inOrder.count) rates", allowed: "at most \(Self.rateLimit)"))
        }
    }
}

extension Tariff.Rate {
    fileprivate init(_ table: ConfigurationReader.Table, name: String) {
        if table.isThere, !table.has("price") { table.wrong(.missing("price = ..., per kWh")) }
        // Some suppliers have negative prices at noon.
        let price = table.number("price", -1000...1000, "per kWh") ?? 0
        self.init(name: name, price: price, co2: table.number("co2", 0...10_000, "g per kWh"))
    }

    /// Reads a rate with its times and days.
    ///
    /// - Parameter co2: the value for a rate without `co2`.
    fileprivate init(times table: ConfigurationReader.Table, co2: Double?) {
        self.init(table, name: table.name)
        self.co2 = self.co2 ?? co2
        from = table.quarterHour("from") ?? 0
        to = table.quarterHour("to") ?? 1440
        if from == to {
            table.wrong(.contradiction("\"from\" and \"to\" are equal; delete both for the whole day"), "to")
        }
        if let days = table.weekdays("days") { self.days = days }
    }
}

extension ConfigurationReader.Table {
    /// Returns the minutes since midnight for "HH:MM"; "24:00" is the end of the day.
    fileprivate func quarterHour(_ key: String) -> Int? {
        guard let text = text(key, "a time such as \"22:00\"") else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        if parts.count == 2, let hour = parts[0], let minute = parts[1], minute < 60 {
            let minutes = hour * 60 + minute
            if minutes <= 1440, minutes.isMultiple(of: 15) { return minutes }
        }
        wrong(.outOfRange(found: "\"\(text)\"", allowed: "\"00:00\" to \"24:00\", on the quarter of an hour"), key)
        return nil
    }

    fileprivate func weekdays(_ key: String) -> Set<Int>? {
        guard let text = text(key, "days such as \"sat sun\"") else { return nil }
        var days: Set<Int> = []
        for word in text.lowercased().split(whereSeparator: { $0 == " " || $0 == "," }) {
            guard let day = Tariff.weekdayNames.firstIndex(of: String(word)) else {
                wrong(.notOneOf(found: String(word), allowed: Tariff.weekdayNames, nearest: nil), key)
                return nil
            }
            days.insert(day)
        }
        if days.isEmpty { wrong(.missing("at least one of \(Tariff.weekdayNames.joined(separator: " "))"), key) }
        return days
    }
}
