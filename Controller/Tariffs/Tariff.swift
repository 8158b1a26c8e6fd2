public import LocalCalendar

/// What a kilowatt-hour costs, by the time of day and the day of the week, and what it emits.
public struct Tariff: Hashable, Sendable {
    /// What holds at some times of the week.
    public struct Rate: Hashable, Sendable {
        /// As the file calls it; "" for what holds at all other times.
        public var name: String
        /// Of a kilowatt-hour, in the tariff's currency.
        public var price: Double
        /// Grams of CO2 of a kilowatt-hour; nil where nobody said.
        public var co2: Double?
        /// Minutes since midnight; an end before the beginning is on the next day.
        public var from = 0
        public var to = 1440
        /// Monday is 0. Of a rate that goes over midnight the days are those on which it begins.
        public var days: Set<Int> = Set(0..<7)

        public init(name: String, price: Double, co2: Double? = nil) {
            self.name = name
            self.price = price
            self.co2 = co2
        }

        /// - Parameters:
        ///   - minute: since midnight of the local day.
        ///   - day: of the week, Monday is 0.
        func holds(minute: Int, day: Int) -> Bool {
            if from < to { return days.contains(day) && (from..<to).contains(minute) }
            return minute >= from ? days.contains(day) : minute < to && days.contains((day + 6) % 7)
        }
    }

    /// As it is printed: "EUR", "€".
    public var currency: String
    /// What every day costs, whatever is drawn.
    public var standingCharge: Double
    /// The first that holds counts.
    public var rates: [Rate]
    /// At all other times.
    public var otherwise: Rate

    public init(currency: String, otherwise: Rate, standingCharge: Double = 0, rates: [Rate] = []) {
        self.currency = currency
        self.otherwise = otherwise
        self.standingCharge = standingCharge
        self.rates = rates
    }

    /// - Parameter second: since 1970, UTC.
    public func rate(at second: Int, zone: ZoneOffsets) -> Rate {
        let local = second + zone.offset(at: Double(second))
        let day = floorDivide(local, 86_400)
        let minute = (local - day * 86_400) / 60
        // 1 January 1970 was a Thursday.
        let weekday = (day + 3) - floorDivide(day + 3, 7) * 7
        return rates.first { $0.holds(minute: minute, day: weekday) } ?? otherwise
    }

    /// What energy costs that was drawn in a quarter of an hour: no rate changes within one.
    public func cost(ofMilliwattHours energy: Double, at second: Int, zone: ZoneOffsets) -> Cost {
        let rate = rate(at: second, zone: zone)
        let kilowattHours = energy / 1e6
        return Cost(amount: kilowattHours * rate.price, co2Grams: rate.co2.map { $0 * kilowattHours })
    }
}

public struct Cost: Hashable, Sendable {
    /// In the tariff's currency.
    public var amount: Double
    /// Nil where it is not known of all of the energy.
    public var co2Grams: Double?

    public init(amount: Double = 0, co2Grams: Double? = 0) {
        self.amount = amount
        self.co2Grams = co2Grams
    }

    public static func + (left: Cost, right: Cost) -> Cost {
        let grams = left.co2Grams.flatMap { left in right.co2Grams.map { left + $0 } }
        return Cost(amount: left.amount + right.amount, co2Grams: grams)
    }
}
