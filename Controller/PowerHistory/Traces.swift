import GRDB

extension PowerHistory {
    /// The maximum number of traces of firings that the history keeps per rule. The limit stops a rule whose
    /// threshold is within the noise from filling the disk.
    public static let firingsPerRule = 3000
    /// The maximum number of traces of edges without effect that the history keeps per rule. They have their own
    /// limit so that they do not displace firings.
    public static let asidesPerRule = 2000
    /// The maximum number of traces that one statement deletes, so that deletion does not delay other writers.
    static let tracesAPiece: Int64 = 2000

    /// Returns the traces of one rule, or of all rules if `rule` is nil, in ascending order of time; `from` and `to`
    /// are included.
    ///
    /// - Parameter newest: Returns only this number of newest traces; nil for all.
    public func traces(
        of rule: String?, from: Int64, to: Int64, newest limit: Int? = nil
    ) throws(HistoryError) -> [StoredTrace] {
        try read { database in
            let columns = "SELECT trace, at, rule, fired, json FROM trace WHERE"
            let order = "ORDER BY at DESC, id DESC LIMIT ?3"
            let bounds = (SQLValue.integer(from), SQLValue.integer(to), SQLValue.integer(limit.map(Int64.init) ?? -1))
            var traces: [StoredTrace] = []
            if let rule {
                // The condition on `fired` lets SQLite use the index on rule, fired and at.
                try database.query(
                    "\(columns) rule = ?4 AND fired IN (0, 1) AND at BETWEEN ?1 AND ?2 \(order)", bounds.0, bounds.1,
                    bounds.2, .text(rule)
                ) { traces.append(StoredTrace($0)) }
            } else {
                try database.query("\(columns) at BETWEEN ?1 AND ?2 \(order)", bounds.0, bounds.1, bounds.2) {
                    traces.append(StoredTrace($0))
                }
            }
            return traces.reversed()
        }
    }

    /// Returns the newest `limit` traces of firings at or after `from`, in ascending order of time.
    public func firedTraces(from: Int64, newest limit: Int) throws(HistoryError) -> [StoredTrace] {
        try read { database in
            var traces: [StoredTrace] = []
            try database.query(
                """
                SELECT trace, at, rule, fired, json FROM trace WHERE at >= ? AND fired = 1 ORDER BY at DESC, id DESC LIMIT ?
                """, .integer(from), .integer(Int64(limit))
            ) { traces.append(StoredTrace($0)) }
            return traces.reversed()
        }
    }

    /// Returns the names of all rules with traces, sorted.
    public func tracedRules() throws(HistoryError) -> [String] {
        try read { database in
            var rules: [String] = []
            try database.query("SELECT DISTINCT rule FROM trace ORDER BY rule") { rules.append($0.text(0)) }
            return rules
        }
    }

    /// Deletes traces that are too old, and the oldest traces of rules that have too many. If the clock is ahead of the
    /// newest trace, ages count back from that trace.
    static func forgetTraces(
        olderThan days: Int?, now: Int64, firings: Int = firingsPerRule, asides: Int = asidesPerRule,
        _ database: Database
    ) throws {
        if let days, let newest = try database.integer("SELECT max(at) FROM trace") {
            let limit = min(now, newest) - Int64(days) * 86_400_000
            try database.change(
                "DELETE FROM trace WHERE id IN (SELECT id FROM trace WHERE at < ? ORDER BY at LIMIT ?)",
                .integer(limit), .integer(tracesAPiece))
        }
        for (fired, most) in [(SQLValue.integer(1), Int64(firings)), (.integer(0), Int64(asides))] {
            var excess: [(rule: String, count: Int64)] = []
            try database.query(
                "SELECT rule, count(*) FROM trace WHERE fired = ? GROUP BY rule HAVING count(*) > ?", fired,
                .integer(most)
            ) { excess.append(($0.text(0), $0.integer(1) - most)) }
            for (rule, count) in excess {
                try database.change(
                    """
                    DELETE FROM trace WHERE id IN
                        (SELECT id FROM trace WHERE rule = ? AND fired = ? ORDER BY at, id LIMIT ?)
                    """, .text(rule), fired, .integer(min(count, tracesAPiece)))
            }
        }
    }
}

extension StoredTrace {
    /// Reads the columns `trace, at, rule, fired, json`.
    init(_ row: SQLRow) {
        self.init(
            id: row.text(0), at: row.time(1), rule: row.text(2), isFiring: row.integer(3) != 0, json: row.text(4))
    }
}
