public import PlugModel

extension PowerHistory {
    /// Returns the relay's state at a time, from the plug's journal: the state after the last change before this time,
    /// otherwise the opposite of the state after the first change at or after this time.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - end: Changes after this time are ignored.
    /// - Returns: True for on; nil if the journal has no relay change up to `end`.
    public func relay(of plug: PlugID, at time: Int64, until end: Int64) throws(HistoryError) -> Bool? {
        try read { database in
            guard let plug = try database.row(of: plug) else { return nil }
            func switched(_ condition: String, _ order: String) throws -> Bool? {
                var on: Bool?
                // The first byte is the kind. Damaged cells are skipped.
                try database.query(
                    """
                    SELECT bytes FROM event WHERE plug = ?1 AND substr(bytes, 1, 1) = x'01' AND \(condition)
                    ORDER BY at \(order), sequence \(order) LIMIT 20
                    """, .integer(plug), .integer(time), .integer(end)
                ) { row in
                    guard on == nil, case .event(let event) = try? StoredEvent.Content(decoding: row.bytes(0)),
                        case .relayChanged(let isOn, _) = event.kind
                    else { return }
                    on = isOn
                }
                return on
            }
            if let before = try switched("at < ?2 AND ?3 NOTNULL", "DESC") { return before }
            return try switched("at BETWEEN ?2 AND ?3", "ASC").map { !$0 }
        }
    }

    /// Returns the ids of the commands that a rule sent, 32 hexadecimal digits each, from its traces. `from` and `to`
    /// are milliseconds since 1970, both included.
    public func commandIDs(of rule: String, from: Int64, to: Int64) throws(HistoryError) -> [String] {
        try read { database in
            var ids: [String] = []
            try database.query(
                """
                SELECT json_extract(step.value, '$.id') FROM trace,
                    json_each(CASE WHEN json_valid(trace.json) THEN trace.json ELSE '{}' END, '$.steps') AS step
                WHERE trace.rule = ? AND trace.fired = 1 AND trace.at BETWEEN ? AND ?
                    AND json_extract(step.value, '$.plug') NOTNULL AND json_extract(step.value, '$.id') NOTNULL
                """, .text(rule), .integer(from), .integer(to)
            ) { ids.append($0.text(0)) }
            return ids
        }
    }
}
