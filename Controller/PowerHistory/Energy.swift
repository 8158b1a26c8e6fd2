import GRDB
public import HouseCalendar
public import PlugModel

extension PowerHistory {
    /// Returns the energy of each period, from the roll-ups of quarter-hours: in all current time zones, hours and days
    /// begin at the beginning of a quarter-hour. Between two readings of the plug's counter the sum includes all
    /// counted energy, even if no samples were fetched.
    ///
    /// - Parameters:
    ///   - periods: Sorted and not overlapping.
    ///   - latest: The plug's latest counter reading, up to which the energy extends although the reading is not stored;
    ///     nil for the stored readings only.
    /// - Returns: One entry per period; its energy is zero if nothing is known.
    public func energy(
        of plug: PlugID, periods: [CalendarPeriod], upTo latest: CounterReading? = nil
    ) throws(HistoryError) -> [PeriodEnergy] {
        guard let first = periods.first, let last = periods.last else { return [] }
        var isDamaged = false
        let energies = try read { database -> [PeriodEnergy] in
            guard let plug = try database.row(of: plug) else { return periods.map { PeriodEnergy(period: $0) } }
            var sums = Array(repeating: EntrySum(), count: periods.count)
            var index = 0
            func add(_ start: Int64, _ entry: RollUpEntry) {
                while index < periods.count, Int64(periods[index].to) * 1000 <= start { index += 1 }
                guard index < periods.count, Int64(periods[index].from) * 1000 <= start else { return }
                sums[index].add(entry)
            }
            let rollUps = RollUps(database, plug: plug)
            let recent = try latest.flatMap { try rollUps.quarters(upTo: $0) }
            let end = min(Int64(last.to) * 1000, recent?.from ?? .max)
            try rollUps.each(.quarter, from: Int64(first.from) * 1000, to: end, add)
            for (start, entry) in recent?.entries ?? [] { add(start, entry) }
            isDamaged = rollUps.foundDamage
            return zip(periods, sums).map { PeriodEnergy($0, $1.entry) }
        }
        if isDamaged { reportDamage() }
        return energies
    }
}

extension PeriodEnergy {
    fileprivate init(_ period: CalendarPeriod, _ entry: RollUpEntry) {
        self.init(
            period: period, milliwattHours: Double(entry.energy) / 1000,
            estimatedMilliwattHours: Double(entry.estimated) / 1000, coveredMilliseconds: entry.covered,
            mean: entry.power.map { Double($0.mean) / 1000 }, least: entry.power.map { Double($0.least) / 10 },
            greatest: entry.power.map { Double($0.greatest) / 10 })
    }
}
