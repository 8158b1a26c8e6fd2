public import HouseCalendar
import LinuxSystem
public import PlugModel
public import PowerHistory

/// The budget of a house per month: the output of `plugctl budget --json`, and the budget in the dashboard's API. It
/// has either a cost or an energy.
public struct BudgetRecord: Codable, Hashable, Sendable {
    /// The amount in `currency`; omitted for a budget in energy.
    public var cost: Double?
    /// The currency; omitted for a budget in energy.
    public var currency: String?
    /// The energy in Wh; omitted for a budget in a currency.
    public var activeEnergy: Double?
    /// The month so far; omitted without data of this month, and without a tariff in the currency of the budget.
    public var month: BudgetMonthRecord?

    /// Creates the record of a budget and of the month so far.
    public init(_ budget: Budget, _ use: BudgetUse?, zone: ZoneOffsets) {
        switch budget {
        case .cost(let amount, let currency): (cost, self.currency) = (amount, currency)
        case .energy(let kilowattHours): activeEnergy = kilowattHours * 1000
        }
        month = use.map { BudgetMonthRecord($0, zone: zone) }
    }
}

/// The use of a budget in a month. Amounts are in the currency of the budget, or in Wh.
public struct BudgetMonthRecord: Codable, Hashable, Sendable {
    /// The start of the month: ISO 8601, local time with its offset.
    public var from: String
    /// The end of the month, in the same format.
    public var to: String
    /// The amount used so far in the time with data, including the fixed cost of each day that has begun.
    public var used: Double
    /// The amount at the end of the month if the rest of the month uses as much as the time with data; omitted if less
    /// than a day has data.
    public var projected: Double?
    /// The part of the month that is over, in seconds.
    public var elapsed: Double
    /// The part of `elapsed` with data of at least one plug, in seconds.
    public var covered: Double

    init(_ use: BudgetUse, zone: ZoneOffsets) {
        let scale =
            switch use.budget {
            case .cost: 1.0
            case .energy: 1000.0
            }
        from = EnergyRecord.local(use.month.from, zone)
        to = EnergyRecord.local(use.month.to, zone)
        used = rounded(use.used * scale, 4)
        projected = use.projected.map { rounded($0 * scale, 4) }
        (elapsed, covered) = (Double(use.elapsed), Double(use.known))
    }
}

extension Budget {
    /// The budget for the user, such as `60.00 EUR per month`.
    public var words: String { "\(text(amount)) per month" }

    /// Formats an amount in the unit of the budget.
    func text(_ amount: Double) -> String {
        switch self {
        case .cost: "\(decimal(amount, 2)) \(unit)"
        case .energy: "\(decimal(amount, amount < 10 ? 3 : 1)) \(unit)"
        }
    }
}

extension BudgetUse {
    /// Reads the use of a month from the history.
    ///
    /// - Parameters:
    ///   - budget: the budget.
    ///   - now: seconds since 1970. The month is the one that contains this time.
    ///   - counters: the latest counter readings, which the history need not have.
    ///   - zone: the time zone for at least a month around `now`.
    /// - Returns: nil without data of this month, or if the tariff does not fit the budget.
    /// - Throws: `HistoryError` if the history cannot be read.
    public init?(
        _ budget: Budget, at now: Int, from history: PowerHistory, upTo counters: [PlugID: CounterReading],
        tariff: Tariff?, zone: ZoneOffsets
    ) throws(HistoryError) {
        guard let month = CalendarPeriod.all(.month, from: now, to: now + 1, zone: zone)?.first,
            let quarters = CalendarPeriod.all(.quarter, from: month.from, to: now, zone: zone)
        else { return nil }
        var energies: [[PeriodEnergy]] = []
        for plug in try history.plugs() {
            energies.append(try history.energy(of: plug.id, periods: quarters, upTo: counters[plug.id]))
        }
        self.init(budget, in: month, until: now, energies, tariff: tariff, zone: zone)
    }

    /// Computes the use of a month.
    ///
    /// - Parameter appliances: the energy of each appliance in the same quarter-hours of the month.
    public init?(
        _ budget: Budget, in month: CalendarPeriod, until now: Int, _ appliances: [[PeriodEnergy]], tariff: Tariff?,
        zone: ZoneOffsets
    ) {
        let quarters = (appliances.first ?? []).indices.map { index in
            let known = appliances.map { $0[index] }.filter(\.isKnown)
            return Quarter(
                appliances[0][index].period,
                milliwattHours: known.isEmpty ? nil : known.reduce(0) { $0 + $1.milliwattHours })
        }
        self.init(budget, in: month, until: now, quarters, tariff: tariff, zone: zone)
    }

    /// The month for the user, such as `Nov 2026`.
    public var monthName: String { "\(month.start.monthName) \(month.start.year)" }

    /// The use for the user, such as `41.20 of 60.00 EUR used (69 %), day 20 of 30, projection 61.80 EUR`.
    public var words: String {
        let amount = budget.text(used).dropLast(budget.unit.count + 1)
        var parts = [
            "\(amount) of \(budget.text(budget.amount)) used (\(decimal(share * 100, 0)) %)",
            "day \(begunDays) of \(days)",
        ]
        if elapsed < month.to - month.from {
            let why = "no projection, because less than a day has data"
            parts.append(projected.map { "projection \(budget.text($0))" } ?? why)
        }
        if fixedCost > 0 { parts.append("standing charge included") }
        // An hour may be missing while the daemon restarts.
        if elapsed - known > 3600 {
            parts.append("\(decimal(Double(elapsed - known) / 3600, 0)) h have no data and are not counted")
        }
        return parts.joined(separator: ", ")
    }
}

extension BudgetNotices.Threshold {
    /// The title of the notification.
    public func title(_ use: BudgetUse) -> String {
        switch self {
        case .ahead: "\(decimal(use.share * 100, 0)) % of the budget for \(use.monthName) are used"
        case .usedUp: "The budget for \(use.monthName) is used up"
        }
    }
}
