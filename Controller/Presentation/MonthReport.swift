public import HouseCalendar
public import PowerHistory

/// The energy and cost of a house in one month, compared with the preceding month.
public struct MonthReport: Sendable {
    /// The month.
    public let month: CalendarPeriod
    /// The end of the data in seconds since 1970: the end of the month, or earlier in the current month.
    public let end: Int
    /// The energy of each appliance by day.
    public let days: EnergyReport
    /// The energy of each appliance in the preceding month.
    public let before: EnergyReport
    /// The base load; nil if it is not known.
    public let baseLoad: BaseLoad?
    /// The use of the budget; nil without a budget, or if the use is not known.
    public let budget: BudgetUse?

    /// Creates a report. Both energy reports have the same tariff and time zone.
    public init(
        _ month: CalendarPeriod, until end: Int, days: EnergyReport, before: EnergyReport, baseLoad: BaseLoad?,
        budget: BudgetUse?
    ) {
        (self.month, self.end, self.days, self.before) = (month, end, days, before)
        (self.baseLoad, self.budget) = (baseLoad, budget)
    }

    /// The energy of all appliances by day, in mWh. Days without data are omitted.
    var totals: [(day: CalendarPeriod, milliwattHours: Double)] {
        let rows = Dictionary(grouping: days.appliances.flatMap(\.rows), by: \.energy.period)
        return rows.map { day, rows in (day: day, milliwattHours: rows.reduce(0) { $0 + $1.energy.milliwattHours }) }
            .sorted { $0.day.from < $1.day.from }
    }
}

/// The power that a house always uses, for example for devices in standby: the power of all appliances together is
/// higher in 95 % of the quarter-hours.
public struct BaseLoad: Hashable, Sendable {
    /// The least number of quarter-hours with data of all appliances: a day. An appliance with less data, such as one
    /// that is new, does not count.
    private static let leastQuarters = 96

    /// The power in watts.
    public let watts: Double
    /// The energy of this power over all quarter-hours.
    public let milliwattHours: Double
    /// The cost of this energy; nil without a tariff.
    public let cost: Cost?

    /// Computes the base load.
    ///
    /// - Parameter appliances: the energy of each appliance in the same quarter-hours.
    /// - Returns: nil if less than a day has data of all appliances.
    public init?(of appliances: [[PeriodEnergy]], tariff: Tariff?, zone: ZoneOffsets) {
        let known = appliances.filter { $0.count(where: \.isKnown) >= Self.leastQuarters }
        guard let quarters = known.first?.map(\.period) else { return nil }
        let sums = quarters.indices.filter { index in known.allSatisfy { $0[index].isKnown } }
            .map { index in known.reduce(0) { $0 + $1[index].milliwattHours } }.sorted()
        guard sums.count >= Self.leastQuarters else { return nil }
        let perQuarter = sums[sums.count / 20]
        watts = perQuarter * 4 / 1000
        milliwattHours = perQuarter * Double(quarters.count)
        cost = tariff.map { tariff in
            quarters.reduce(Cost()) { $0 + tariff.cost(ofMilliwattHours: perQuarter, at: $1.from, zone: zone) }
        }
    }
}
