/// The part of a budget that a house has used in a month, and the use that it projects for the whole month.
public struct BudgetUse: Hashable, Sendable {
    /// The energy of the house in a quarter of an hour.
    public struct Quarter: Hashable, Sendable {
        /// The quarter of an hour.
        public var period: CalendarPeriod
        /// The energy of all plugs; nil if no plug has data.
        public var milliwattHours: Double?

        /// Creates a quarter from its parts.
        public init(_ period: CalendarPeriod, milliwattHours: Double?) {
            self.period = period
            self.milliwattHours = milliwattHours
        }
    }

    /// The least time with data for a projection, in seconds: the use differs by time of day.
    private static let leastKnown = 86_400

    /// The budget.
    public let budget: Budget
    /// The month.
    public let month: CalendarPeriod
    /// The part of the month that is over, in seconds.
    public let elapsed: Int
    /// The part of ``elapsed`` with data, in seconds.
    public let known: Int
    /// The days of the month that have begun.
    public let begunDays: Int
    /// The days of the month.
    public let days: Int
    /// The fixed cost per day in the budget's currency; 0 for a budget in kWh.
    public let fixedCost: Double
    /// The use so far in the unit of the budget: the use in the time with data, and the fixed cost of each day that has
    /// begun.
    public let used: Double
    /// The use at the end of the month if the rest of the month uses as much per second as the time with data; nil if
    /// less than a day has data. Nothing is added for the past time without data.
    public let projected: Double?

    /// Computes the use.
    ///
    /// - Parameters:
    ///   - month: the calendar month.
    ///   - now: the current time or the end of the month, in seconds since 1970. Later quarters are ignored.
    ///   - quarters: quarters of the month in any order.
    ///   - tariff: the tariff; a budget in kWh needs none.
    /// - Returns: nil if no time has data, or if the tariff does not fit the budget.
    public init?(
        _ budget: Budget, in month: CalendarPeriod, until now: Int, _ quarters: [Quarter], tariff: Tariff?,
        zone: ZoneOffsets
    ) {
        let end = min(now, month.to)
        let days = CalendarPeriod.all(.day, from: month.from, to: month.to, zone: zone) ?? []
        guard budget.fits(tariff), end > month.from, !days.isEmpty else { return nil }
        var (energyUse, known) = (0.0, 0)
        for quarter in quarters {
            let (begin, stop) = (max(quarter.period.from, month.from), min(quarter.period.to, end))
            guard let energy = quarter.milliwattHours, begin < stop else { continue }
            known += stop - begin
            switch budget {
            case .cost:
                energyUse += tariff?.cost(ofMilliwattHours: energy, at: quarter.period.from, zone: zone).amount ?? 0
            case .energy: energyUse += energy / 1e6
            }
        }
        guard known > 0 else { return nil }
        fixedCost =
            switch budget {
            case .cost: tariff?.standingCharge ?? 0
            case .energy: 0
            }
        (self.budget, self.month, self.known, self.days) = (budget, month, known, days.count)
        elapsed = end - month.from
        begunDays = days.count { $0.from < end }
        used = energyUse + fixedCost * Double(begunDays)
        let rest = energyUse / Double(known) * Double(month.to - end) + fixedCost * Double(days.count - begunDays)
        projected = known >= Self.leastKnown ? used + rest : nil
    }

    /// The used part of the budget; 1 when it is used up.
    public var share: Double { used / budget.amount }
    /// True if the projection is above the budget.
    public var isAhead: Bool { (projected ?? 0) > budget.amount }
}

/// Decides when the owner is notified of a budget: at most once per month and threshold.
public struct BudgetNotices: Codable, Hashable, Sendable {
    /// A condition of which the owner is notified.
    public enum Threshold: String, Codable, Hashable, Sendable {
        /// 80 % of the budget are used, and the projection is above the budget.
        case ahead
        /// The budget is used up.
        case usedUp
    }

    /// The used part of the budget from which ``Threshold/ahead`` applies.
    private static let warning = 0.8

    /// The month of the notifications, such as `2026-11`; empty before the first one.
    private var month = ""
    /// The budget of the notifications. A changed budget has new thresholds.
    private var budget: Budget?
    private var notified: Set<Threshold> = []

    /// Creates a state without notifications.
    public init() {}

    /// Returns the threshold of which the owner is to be notified now, and counts it as notified; nil without a new
    /// threshold. If the budget is used up, no notification of ``Threshold/ahead`` follows.
    public mutating func handle(_ use: BudgetUse) -> Threshold? {
        let month = "\(use.month.start.year)-\(use.month.start.month)"
        let reached: Threshold? =
            if use.share >= 1 { .usedUp } else if use.share >= Self.warning, use.isAhead { .ahead } else { nil }
        guard let reached else { return nil }
        if self.month != month || budget != use.budget { (self.month, budget, notified) = (month, use.budget, []) }
        guard !notified.contains(.usedUp), notified.insert(reached).inserted else { return nil }
        return reached
    }

    /// Takes back a notification that no receiver got.
    public mutating func withdraw(_ threshold: Threshold) { notified.remove(threshold) }
}
