/// The price and emissions of a kilowatt-hour by time of day and day of the week.
public struct Tariff: Hashable, Sendable {
    /// The price and emissions at some times of the week.
    public struct Rate: Hashable, Sendable {
        /// The name in the file; "" for the rate at all other times.
        public var name: String
        /// The price of a kilowatt-hour in the tariff's currency.
        public var price: Double
        /// Grams of CO2 per kilowatt-hour; nil if unknown.
        public var co2: Double?
        /// The start of the rate in minutes since midnight.
        public var from = 0
        /// The end of the rate in minutes since midnight. An end before the start is on the next day.
        public var to = 1440
        /// The days of the week, 0 for Monday. A rate that spans midnight belongs to the day on which it begins.
        public var days: Set<Int> = Set(0..<7)

        /// Creates a rate for the whole day on all days of the week.
        public init(name: String, price: Double, co2: Double? = nil) {
            self.name = name
            self.price = price
            self.co2 = co2
        }

        /// Returns true if the rate applies at this minute.
        ///
        /// - Parameters:
        ///   - minute: the minute since midnight of the local day.
        ///   - day: the day of the week, 0 for Monday.
        func holds(minute: Int, day: Int) -> Bool {
            if from < to { return days.contains(day) && (from..<to).contains(minute) }
            return minute >= from ? days.contains(day) : minute < to && days.contains((day + 6) % 7)
        }
    }

    /// The name of the currency as it is printed, such as "EUR" or "€".
    public var currency: String
    /// The fixed cost per day.
    public var standingCharge: Double
    /// The rates. The first one that applies is used.
    public var rates: [Rate]
    /// The rate at all other times.
    public var otherwise: Rate

    /// Creates a tariff from its parts.
    public init(currency: String, otherwise: Rate, standingCharge: Double = 0, rates: [Rate] = []) {
        self.currency = currency
        self.otherwise = otherwise
        self.standingCharge = standingCharge
        self.rates = rates
    }

    /// Returns the rate that applies at a time in this time zone.
    ///
    /// - Parameter second: the seconds since 1970, UTC.
    public func rate(at second: Int, zone: ZoneOffsets) -> Rate {
        let local = second + zone.offset(at: Double(second))
        let day = floorDivide(local, 86_400)
        let minute = (local - day * 86_400) / 60
        // 1 January 1970 was a Thursday.
        let weekday = (day + 3) - floorDivide(day + 3, 7) * 7
        return rates.first { $0.holds(minute: minute, day: weekday) } ?? otherwise
    }

    /// Returns the cost of energy used within a quarter of an hour, in which no rate changes.
    public func cost(ofMilliwattHours energy: Double, at second: Int, zone: ZoneOffsets) -> Cost {
        let rate = rate(at: second, zone: zone)
        let kilowattHours = energy / 1e6
        return Cost(amount: kilowattHours * rate.price, co2Grams: rate.co2.map { $0 * kilowattHours })
    }
}

/// The cost and the emissions of an amount of energy.
public struct Cost: Hashable, Sendable {
    /// The amount in the tariff's currency.
    public var amount: Double
    /// The emissions in grams; nil if they are unknown for a part of the energy.
    public var co2Grams: Double?

    /// Creates a cost, by default of zero.
    public init(amount: Double = 0, co2Grams: Double? = 0) {
        self.amount = amount
        self.co2Grams = co2Grams
    }

    /// Adds two costs. The emissions of the sum are unknown if those of one cost are unknown.
    public static func + (left: Cost, right: Cost) -> Cost {
        let grams = left.co2Grams.flatMap { left in right.co2Grams.map { left + $0 } }
        return Cost(amount: left.amount + right.amount, co2Grams: grams)
    }
}
