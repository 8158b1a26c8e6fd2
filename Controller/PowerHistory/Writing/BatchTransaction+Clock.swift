import GRDB
import PlugModel

extension BatchTransaction {
    /// Returns the row of a boot. If the difference between `origin` and the stored origin shows that the wall clock
    /// was set, all stored data of the boot is first moved by this difference.
    mutating func place(_ boot: BootID, of plug: Int64, origin: Int64, at time: Int64) throws -> Int64 {
        let known = try row(of: boot, of: plug)
        guard let mapping = known.mapping else {
            try setMapping(BootMapping(origin: origin, newest: time), of: known.id)
            return known.id
        }
        let change = origin - mapping.origin
        let wasSet = abs(change) > Self.clockTolerance + abs(time - mapping.newest) / Self.drift
        if wasSet { try move(boot: known.id, of: plug, by: change) }
        if time >= mapping.newest || wasSet {
            try setMapping(BootMapping(origin: origin, newest: max(time, mapping.newest)), of: known.id)
        }
        return known.id
    }

    /// The known relation of the wall clock and the plug's clock.
    private struct BootMapping {
        var origin: Int64
        /// The latest known time of the plug's clock.
        var newest: Int64
    }

    private func row(of boot: BootID, of plug: Int64) throws -> (id: Int64, mapping: BootMapping?) {
        var known: (id: Int64, mapping: BootMapping?)?
        try database.query(
            "SELECT id, origin, newest FROM boot WHERE plug = ? AND boot = ?", .integer(plug), .bytes(boot.bytes)
        ) { row in
            let mapping = row.isNull(1) ? nil : BootMapping(origin: row.time(1), newest: row.time(2))
            known = (row.integer(0), mapping)
        }
        if let known { return known }
        try database.change("INSERT INTO boot (plug, boot) VALUES (?, ?)", .integer(plug), .bytes(boot.bytes))
        return (database.lastInsertedRowID, nil)
    }

    private func setMapping(_ mapping: BootMapping, of boot: Int64) throws {
        try database.change(
            "UPDATE boot SET origin = ?, newest = ? WHERE id = ?", .integer(mapping.origin),
            .integer(mapping.newest), .integer(boot))
    }

    private mutating func move(boot: Int64, of plug: Int64, by change: Int64) throws {
        var spans: [ClosedRange<Int64>] = []
        try database.query("SELECT since, until FROM chunk WHERE boot = ?", .integer(boot)) {
            spans.append($0.time(0)...max($0.time(0), $0.time(1)))
        }
        let rollUps = RollUps(database, plug: plug)
        spans += try rollUps.counterTimes(ofBoot: boot, clocks: Int64.min...Int64.max).map { $0...$0 }
        let readings = try takeCounters(of: boot, plug)
        for span in spans {
            // If a reading moves away, the intervals on its two sides become one.
            let before = try rollUps.counterPoint(atOrBefore: span.lowerBound - 1)?.time ?? span.lowerBound
            let after = try rollUps.counterPoint(atOrAfter: span.upperBound + 1)?.time ?? span.upperBound
            markDirty(
                plug,
                max(
                    before, span.lowerBound - EnergyShares.longestInterval)...min(
                        after, span.upperBound + EnergyShares.longestInterval))
            markDirty(plug, span.lowerBound + change...span.upperBound + change)
        }
        try database.change(
            "UPDATE chunk SET since = since + ?, until = until + ? WHERE boot = ?", .integer(change),
            .integer(change), .integer(boot))
        for reading in readings {
            try insertCounter(plug, boot, wall: reading.wall + change, clock: reading.clock, reading.milliwattHours)
        }
    }

    /// Removes the readings and returns them. The caller inserts them again after the move: if readings were moved one
    /// by one, a moved reading could collide with the next one.
    private func takeCounters(
        of boot: Int64, _ plug: Int64
    ) throws -> [(wall: Int64, clock: Int64, milliwattHours: Int64)] {
        var readings: [(wall: Int64, clock: Int64, milliwattHours: Int64)] = []
        try database.query(
            "SELECT wall, clock, milliwatt_hours FROM counter WHERE plug = ? AND boot = ?", .integer(plug),
            .integer(boot)
        ) { readings.append(($0.time(0), $0.time(1), $0.integer(2))) }
        try database.change("DELETE FROM counter WHERE plug = ? AND boot = ?", .integer(plug), .integer(boot))
        return readings
    }

    /// Inserts a reading. If the wall clock was set, two readings may have the same wall time; the greater one is
    /// stored.
    func insertCounter(
        _ plug: Int64, _ boot: Int64, wall: Int64, clock: Int64, _ milliwattHours: Int64
    ) throws {
        try database.change(
            """
            INSERT INTO counter (plug, wall, boot, clock, milliwatt_hours) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET milliwatt_hours = excluded.milliwatt_hours, clock = excluded.clock
                WHERE (excluded.milliwatt_hours, excluded.clock) > (milliwatt_hours, clock)
            """, .integer(plug), .integer(wall), .integer(boot), .integer(clock), .integer(milliwattHours))
    }

    mutating func store(_ fetched: FetchedSpan) throws {
        let plug = try row(of: fetched.plug)
        let boot = try row(of: fetched.boot, of: plug).id
        var (first, last) = (fetched.span.lowerBound, fetched.span.upperBound)
        try database.query(
            "SELECT min(first), max(last) FROM fetched WHERE boot = ? AND first <= ? AND last >= ?", .integer(boot),
            .integer(last.addingClamped(1)), .integer(first.subtractingClamped(1))
        ) { row in
            guard !row.isNull(0) else { return }
            (first, last) = (min(first, row.time(0)), max(last, row.time(1)))
        }
        try database.change(
            "DELETE FROM fetched WHERE boot = ? AND first BETWEEN ? AND ?", .integer(boot), .integer(first),
            .integer(last))
        try database.change(
            "INSERT INTO fetched (boot, first, last) VALUES (?, ?, ?)", .integer(boot), .integer(first),
            .integer(last))
    }
}
