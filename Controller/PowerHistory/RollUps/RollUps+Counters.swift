import GRDB

/// Counter readings on the wall clock. A reading stands where the samples beside it do: they say when what was counted flowed. Its own time
/// on the wall clock, which may have been wrong by seconds when it was read, counts only where there are no samples.
extension RollUps {
    /// A reading's place lies no further from its own time on the wall clock: else all of its boot would have been moved. Milliseconds.
    private static let counterReach = 2 * BatchTransaction.clockTolerance
    /// So long after its last sample a chunk still says where a reading stands. Milliseconds.
    static let chunkReach = BatchTransaction.clockTolerance

    /// Where a reading stands by the chunk that began last before it; null where there is none.
    private static let placeBySamples = """
        (SELECT CASE WHEN counter.clock <= first + (until - since) + \(chunkReach) THEN since + counter.clock - first END
            FROM chunk WHERE chunk.boot = counter.boot AND first <= counter.clock ORDER BY first DESC LIMIT 1)
        """

    private struct Placed {
        var point: CounterPoint
        /// The plug's.
        var clock: Int64
    }

    /// The last reading at or before the beginning, those between, and the first at or after the end.
    func counterPoints(from: Int64, to: Int64) throws -> [CounterPoint] {
        var points: [CounterPoint] = []
        if let before = try counterPoint(atOrBefore: from), from - before.time <= EnergyShares.longestInterval {
            points.append(before)
        }
        if to - from > 1 { points += try places(from: from + 1, to: to - 1) }
        if let after = try counterPoint(atOrAfter: to), after.time - to <= EnergyShares.longestInterval {
            points.append(after)
        }
        return points
    }

    func counterPoint(atOrBefore time: Int64) throws -> CounterPoint? {
        let reach = Self.counterReach
        if let near = try places(from: time - reach, to: time).last { return near }
        var limit = time
        while let wall = try database.integer(
            "SELECT max(wall) FROM counter WHERE plug = ? AND wall <= ?", .integer(plug), .integer(limit))
        {
            // A damaged page may lead to a later one, or have a time that cannot be.
            guard wall <= limit, wall >= -SQLRow.timeLimit else { return nil }
            let place = SQLRow.time(wall)
            if let point = try places(from: place - reach, to: min(time, place + reach)).last { return point }
            // It is later, or is passed over.
            limit = wall - 1
        }
        return nil
    }

    func counterPoint(atOrAfter time: Int64) throws -> CounterPoint? {
        let reach = Self.counterReach
        if let near = try places(from: time, to: time + reach).first { return near }
        var limit = time
        while let wall = try database.integer(
            "SELECT min(wall) FROM counter WHERE plug = ? AND wall >= ?", .integer(plug), .integer(limit))
        {
            guard wall >= limit, wall <= SQLRow.timeLimit else { return nil }
            let place = SQLRow.time(wall)
            if let point = try places(from: max(time, place - reach), to: place + reach).first { return point }
            limit = wall + 1
        }
        return nil
    }

    /// Every time at which a reading of a boot stands or could stand, where its clock is in the range: what of it lies on another side of
    /// them changes when samples come.
    func counterTimes(ofBoot boot: Int64, clocks: ClosedRange<Int64>) throws -> [Int64] {
        var times: [Int64] = []
        try database.query(
            """
            SELECT wall, \(Self.placeBySamples) FROM counter
            WHERE plug = ?1 AND boot = ?2 AND clock BETWEEN ?3 AND ?4
            """, .integer(plug), .integer(boot), .integer(clocks.lowerBound), .integer(clocks.upperBound)
        ) { row in
            times.append(row.time(0))
            if !row.isNull(1) { times.append(row.time(1)) }
        }
        return times
    }

    /// Those that stand in this time, in order. Where two of one boot stand in another order than the plug's clock has them, the later one is
    /// passed over: a counter that seems to fall would part the time, and what flowed would count twice.
    private func places(from: Int64, to: Int64) throws -> [CounterPoint] {
        guard from <= to else { return [] }
        let reach = Self.counterReach
        var found: [Placed] = []
        try database.query(
            """
            SELECT wall, boot, clock, milliwatt_hours, \(Self.placeBySamples) FROM counter
            WHERE plug = ? AND wall BETWEEN ? AND ?
            """, .integer(plug), .integer(from - 2 * reach), .integer(to + reach)
        ) { row in
            let wall = row.time(0)
            let time = row.isNull(4) || abs(row.time(4) - wall) > reach ? wall : row.time(4)
            found.append(
                Placed(
                    point: CounterPoint(
                        time: time, boot: row.integer(1), milliwattHours: UInt64(bitPattern: row.integer(3))),
                    clock: row.time(2)))
        }
        found.sort { ($0.point.time, $0.point.milliwattHours) < ($1.point.time, $1.point.milliwattHours) }
        return found.indices.filter { index in
            let one = found[index]
            guard (from...to).contains(one.point.time) else { return false }
            return !found[..<index].reversed().prefix { $0.point.time >= one.point.time - reach }.contains {
                $0.point.boot == one.point.boot && $0.clock > one.clock
            }
        }.map { found[$0].point }
    }
}
