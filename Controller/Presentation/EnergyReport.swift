public import LocalCalendar
public import PowerHistory
public import Tariffs

/// What appliances drew and what that cost, by hours, days or months: a table, JSON lines or CSV.
public struct EnergyReport: Sendable {
    public struct Row: Hashable, Sendable {
        public var energy: PeriodEnergy
        /// Nil without a tariff.
        public var cost: Cost?
    }

    public struct Appliance: Hashable, Sendable {
        public var name: String
        /// In the order of time, those alone of which something is known.
        public var rows: [Row]

        public var milliwattHours: Double { rows.reduce(0) { $0 + $1.energy.milliwattHours } }
        /// Nil without a tariff.
        public var cost: Cost? { total(rows.map(\.cost)) }
    }

    public let step: CalendarStep
    public let zone: ZoneOffsets
    public let tariff: Tariff?
    public private(set) var appliances: [Appliance] = []

    public init(step: CalendarStep, zone: ZoneOffsets, tariff: Tariff?) {
        self.step = step
        self.zone = zone
        self.tariff = tariff
    }

    /// What the history knows of the plug over whole periods.
    ///
    /// - Parameter seconds: since 1970.
    public mutating func add(
        _ plug: HistoryPlug, from history: PowerHistory, over seconds: Range<Int>
    ) throws(HistoryError) {
        func periods(_ step: CalendarStep, _ range: Range<Int>) -> [CalendarPeriod] {
            CalendarPeriod.all(step, from: range.lowerBound, to: range.upperBound, zone: zone) ?? []
        }
        // Where nothing is known there is nothing to ask for: a person may ask for the last century.
        guard let span = plug.span else { return appliances.append(Appliance(name: plug.title, rows: [])) }
        let known = Int(span.lowerBound / 1000)..<Int(span.upperBound / 1000 + 1)
        let whole = periods(step, seconds.clamped(to: known))
        let energies = try history.energy(of: plug.id, periods: whole)
        var quarters: [PeriodEnergy] = []
        if tariff != nil, let first = whole.first, let last = whole.last {
            quarters = try history.energy(of: plug.id, periods: periods(.quarter, first.from..<last.to))
        }
        add(plug.title, energies, quarters: quarters)
    }

    /// - Parameters:
    ///   - energies: of the report's periods.
    ///   - quarters: of the same time, for the tariff; empty without one.
    public mutating func add(_ name: String, _ energies: [PeriodEnergy], quarters: [PeriodEnergy]) {
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
        appliances.append(Appliance(name: name, rows: rows.filter(\.energy.isKnown)))
    }
}

extension PeriodEnergy {
    /// False where nobody knows anything of the time.
    fileprivate var isKnown: Bool { mean != nil || milliwattHours > 0 }
}

/// Nil where none is known.
func total(_ costs: [Cost?]) -> Cost? {
    var sum: Cost?
    for cost in costs {
        guard let cost else { continue }
        sum = (sum ?? Cost()) + cost
    }
    return sum
}
