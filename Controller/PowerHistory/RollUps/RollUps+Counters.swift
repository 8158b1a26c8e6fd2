import GRDB

/// Counter readings on the wall clock. The neighboring samples determine the time of a reading, because they show when
/// the counted energy flowed. The reading's own wall time may be wrong by seconds, and is used only without such
/// samples.
extension RollUps {
    /// The greatest distance in milliseconds between the time of a reading according to the samples and its own wall
    /// time. If the distance is greater, the reading's own wall time is used.
    private static let counterReach = 2 * BatchTransaction.clockTolerance
    /// The time after a chunk's last sample in which the chunk still determines the time of a reading, in milliseconds.
    static let chunkReach = BatchTransaction.clockTolerance

    /// The time of a reading according to the last chunk that began before it; null without such a chunk.
    private static let placeBySamples = """
        (SELECT CASE WHEN counter.clock <= first + (until - since) + \(chunkReach) THEN since + counter.clock - first END
            FROM chunk WHERE chunk.boot = counter.boot AND first <= counter.clock ORDER BY first DESC LIMIT 1)
        """

    private struct Placed {
        var point: CounterPoint
        /// Milliseconds of the plug's clock.
        var clock: Int64
    }

    /// Returns the last reading at or before the beginning, the readings between, and the first reading at or after the
    /// end. The first and the last reading are omitted if they are further away than `EnergyShares.longestInterval`.
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
            // A damaged page may lead to a later row, or contain an impossible time.
            guard wall <= limit, wall >= -SQLRow.timeLimit else { return nil }
            let place = SQLRow.time(wall)
            if let point = try places(from: place - reach, to: min(time, place + reach)).last { return point }
            // The reading is later than `time`, or is skipped as out of order.
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

    /// Returns two times for each reading of a boot, if the reading's time on the plug's clock is in the range
    /// `clocks`: the reading's own wall time, and its time according to the samples, if there are any. If samples
    /// change these times, the intervals on both sides change too.
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

    /// Returns the readings in this span, sorted by time. If two readings of one boot are in a different order than on
    /// the plug's clock, the later one is skipped: an apparent fall of the counter would split the interval, and energy
    /// would count twice.
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
