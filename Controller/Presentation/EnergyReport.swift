public import HouseCalendar
public import PowerHistory

/// The energy and cost of appliances per hour, day or month, as a table, JSON lines or CSV.
public struct EnergyReport: Sendable {
    /// The energy and cost of one period.
    public struct Row: Hashable, Sendable {
        /// The energy and power of the period.
        public var energy: PeriodEnergy
        /// The cost; nil without a tariff.
        public var cost: Cost?
    }

    /// The rows of one appliance.
    public struct Appliance: Hashable, Sendable {
        /// The name of the appliance.
        public var name: String
        /// The periods with data, in the order of time.
        public var rows: [Row]

        /// The total energy.
        public var milliwattHours: Double { rows.reduce(0) { $0 + $1.energy.milliwattHours } }
        /// The total cost; nil without a tariff.
        public var cost: Cost? { total(rows.map(\.cost)) }
    }

    /// The length of the periods.
    public let step: CalendarStep
    /// The time zone of the periods.
    public let zone: ZoneOffsets
    /// The tariff; nil without costs.
    public let tariff: Tariff?
    /// The appliances in the order in which they were added.
    public private(set) var appliances: [Appliance] = []

    /// Creates a report without appliances.
    public init(step: CalendarStep, zone: ZoneOffsets, tariff: Tariff?) {
        self.step = step
        self.zone = zone
        self.tariff = tariff
    }

    /// Adds the history's data of a plug for whole periods.
    ///
    /// - Parameters:
    ///   - seconds: the time in seconds since 1970.
    ///   - latest: the plug's latest counter reading, which the history need not have; nil if it is not known.
    /// - Returns: false, without a change, if the periods exceed `CalendarPeriod.limit`.
    /// - Throws: `HistoryError` if the history cannot be read.
    public mutating func add(
        _ plug: HistoryPlug, from history: PowerHistory, over seconds: Range<Int>, upTo latest: CounterReading? = nil
    ) throws(HistoryError) -> Bool {
        var rows: [Row] = []
        // Only the time with data is queried, because the user may request a century.
        if let span = plug.span {
            let end = max(span.upperBound, latest.map { $0.origin &+ $0.milliseconds } ?? span.upperBound)
            let known = seconds.clamped(to: Int(span.lowerBound / 1000)..<Int(end / 1000 + 1))
            let all = CalendarPeriod.all(step, from: known.lowerBound, to: known.upperBound, zone: zone)
            guard let all else { return false }
            for begin in stride(from: 0, to: all.count, by: step.yearOfPeriods) {
                let piece = Array(all[begin..<min(begin + step.yearOfPeriods, all.count)])
                let quarters = tariff.flatMap { _ in
                    CalendarPeriod.all(.quarter, from: piece[0].from, to: piece[piece.count - 1].to, zone: zone)
                }
                rows += self.rows(
                    try history.energy(of: plug.id, periods: piece, upTo: latest),
                    quarters: try history.energy(of: plug.id, periods: quarters ?? [], upTo: latest))
            }
        }
        appliances.append(Appliance(name: plug.title, rows: rows))
        return true
    }

    /// Adds an appliance.
    ///
    /// - Parameters:
    ///   - name: the name of the appliance.
    ///   - energies: the energy per period of the report.
    ///   - quarters: the energy per quarter of an hour for the tariff; empty without one.
    public mutating func add(_ name: String, _ energies: [PeriodEnergy], quarters: [PeriodEnergy]) {
        appliances.append(Appliance(name: name, rows: rows(energies, quarters: quarters)))
    }

    private func rows(_ energies: [PeriodEnergy], quarters: [PeriodEnergy]) -> [Row] {
        var next = quarters.startIndex
        let rows: [Row] = energies.map { energy in
            guard let tariff else { return Row(energy: energy) }
            var cost = Cost()
            while next < quarters.endIndex, quarters[next].period.from < energy.period.to {
                let quarter = quarters[next]
                cost = cost + tariff.cost(ofMilliwattHours: quarter.milliwattHours, at: quarter.period.from, zone: zone)
                next += 1
            }
            return Row(energy: energy, cost: cost)
        }
        return rows.filter(\.energy.isKnown)
    }
}

extension CalendarStep {
    /// The maximum number of periods per year, used as the size of a query: several years of quarter-hours exceed
    /// `CalendarPeriod.limit`.
    fileprivate var yearOfPeriods: Int {
        switch self {
        case .quarter: 35_136
        case .hour: 8784
        case .day: 366
        case .month: 12
        }
    }
}

extension PeriodEnergy {
    /// False if the period has no data.
    var isKnown: Bool { mean != nil || milliwattHours > 0 }
}

/// Returns the sum of the known costs, or nil without any.
func total(_ costs: [Cost?]) -> Cost? {
    var sum: Cost?
    for cost in costs {
        guard let cost else { continue }
        sum = (sum ?? Cost()) + cost
    }
    return sum
}
