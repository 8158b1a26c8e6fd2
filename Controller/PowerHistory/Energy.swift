import GRDB
public import LocalCalendar
public import PlugModel

extension PowerHistory {
    /// What flowed in each of these periods, from the roll-ups of quarters: every time zone of today begins its hours and
    /// days with one of them. Between two readings of the plug's counter all that it counted is in here, also what flowed
    /// while nobody fetched samples.
    ///
    /// - Parameter periods: in order, not overlapping.
    /// - Returns: one for each, without energy where nothing is known.
    public func energy(of plug: PlugID, periods: [CalendarPeriod]) throws(HistoryError) -> [PeriodEnergy] {
        guard let first = periods.first, let last = periods.last else { return [] }
        var isDamaged = false
        let energies = try read { database -> [PeriodEnergy] in
            guard let plug = try database.row(of: plug) else { return periods.map { PeriodEnergy(period: $0) } }
            var sums = Array(repeating: EntrySum(), count: periods.count)
            var index = 0
            let rollUps = RollUps(database, plug: plug)
            try rollUps.each(.quarter, from: Int64(first.from) * 1000, to: Int64(last.to) * 1000) { start, entry in
                while index < periods.count, Int64(periods[index].to) * 1000 <= start { index += 1 }
                guard index < periods.count, Int64(periods[index].from) * 1000 <= start else { return }
                sums[index].add(entry)
            }
            isDamaged = rollUps.foundDamage
            return zip(periods, sums).map { PeriodEnergy($0, $1.entry) }
        }
        if isDamaged { tellDamage() }
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
