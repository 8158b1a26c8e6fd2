public import PlugModel

extension PowerHistory {
    /// How the plug's relay stood at a time, by its journal: as it was left before, else the other way than it was switched first.
    ///
    /// - Parameters:
    ///   - time: milliseconds since 1970.
    ///   - end: later than this nothing tells of it.
    /// - Returns: nil where the journal says nothing of it.
    public func relay(of plug: PlugID, at time: Int64, until end: Int64) throws(HistoryError) -> Bool? {
        try read { database in
            guard let plug = try database.row(of: plug) else { return nil }
            func switched(_ condition: String, _ order: String) throws -> Bool? {
                var on: Bool?
                // The first byte is the kind; damaged ones are passed over.
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

    /// The ids of what a rule commanded, 32 hexadecimal digits each, by its traces of a span of milliseconds since 1970.
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
