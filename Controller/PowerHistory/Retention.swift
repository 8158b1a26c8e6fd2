import GRDB

extension PowerHistory {
    /// The maximum number of chunks per plug that one call deletes, about nine hours of samples. The limit keeps calls
    /// short. If the clock is wrong for one hour, at most about two days of samples are deleted.
    static let chunksAPiece: Int64 = 8
    /// The maximum number of cells of minutes per plug that one call deletes: two days.
    static let cellsAPiece: Int64 = 12

    /// Deletes a part of the data that exceeds the retention. Callers call it about every ten minutes.
    ///
    /// Ages count back from `now` or from the start of the plug's newest chunk, whichever is earlier. This keeps old
    /// imported data, and the last days of a plug that no longer exists. Ages of traces count back from `now` or from
    /// the newest trace, whichever is earlier.
    ///
    /// - Parameter now: Milliseconds since 1970.
    public func forgetOld(now: Int64) throws(HistoryError) {
        let retention = retention
        try mending { () throws(HistoryError) in
            try write { database in
                var plugs: [Int64] = []
                try database.query("SELECT id FROM plug") { plugs.append($0.integer(0)) }
                for plug in plugs {
                    guard
                        let newest = try database.integer("SELECT max(since) FROM chunk WHERE plug = ?", .integer(plug))
                    else { continue }
                    let age = { (days: Int) in min(now, newest) - Int64(days) * 86_400_000 }
                    if let days = retention.sampleDays { try Self.forgetChunks(of: plug, before: age(days), database) }
                    if let days = retention.minuteDays { try Self.forgetMinutes(of: plug, before: age(days), database) }
                }
                try Self.forgetTraces(olderThan: retention.traceDays, now: now, database)
            }
        }
    }

    private static func forgetChunks(of plug: Int64, before limit: Int64, _ database: Database) throws {
        var forgotten: (last: Int64, until: Int64)?
        try database.query(
            "SELECT id, until FROM chunk WHERE plug = ? AND since < ? ORDER BY since, until, id LIMIT ?",
            .integer(plug), .integer(limit), .integer(chunksAPiece)
        ) { row in
            guard row.time(1) < limit else { return }
            forgotten = (row.integer(0), max(row.time(1), forgotten?.until ?? .min))
        }
        guard let forgotten else { return }
        let horizon = forgotten.until + 1
        try database.change(
            "DELETE FROM chunk WHERE plug = ? AND since < ? AND until < ?", .integer(plug), .integer(horizon),
            .integer(horizon))
        try database.change(
            "UPDATE plug SET samples_from = max(ifnull(samples_from, ?2), ?2) WHERE id = ?1", .integer(plug),
            .integer(horizon))
    }

    /// Deletes complete cells of minutes, and the counter readings of the same time: the energy of quarters depends on
    /// both.
    private static func forgetMinutes(of plug: Int64, before limit: Int64, _ database: Database) throws {
        let step = SQLValue.integer(Int64(RollUpStep.minute.rawValue))
        let end = floorQuotient(limit, RollUpStep.minute.blockMilliseconds)
        var last: Int64?
        try database.query(
            "SELECT block FROM rollup WHERE plug = ? AND step = ? AND block < ? ORDER BY block LIMIT ?",
            .integer(plug), step, .integer(end), .integer(cellsAPiece)
        ) { last = $0.integer(0) }
        guard let last else { return }
        let horizon = (last + 1) * RollUpStep.minute.blockMilliseconds
        try database.change(
            "DELETE FROM rollup WHERE plug = ? AND step = ? AND block <= ?", .integer(plug), step, .integer(last))
        // The last reading before the horizon stays: it is the start of the next interval.
        try database.change(
            """
            DELETE FROM counter WHERE plug = ?1 AND wall <
                (SELECT max(wall) FROM counter WHERE plug = ?1 AND wall <= ?2)
            """, .integer(plug), .integer(horizon))
        try database.change(
            "UPDATE plug SET minutes_from = max(ifnull(minutes_from, ?2), ?2) WHERE id = ?1", .integer(plug),
            .integer(horizon))
        try FeedSchema.forgetMinutes(of: plug, through: last, horizon: horizon, database)
    }
}
