import GRDB

extension BatchTransaction {
    /// The one that was told last is the one that knows most.
    func store(_ trace: StoredTrace) throws {
        guard trace.json.utf8.count <= StoredTrace.limit else {
            return complain(
                """
                what the rule \(trace.rule) did is too long to be kept
                hint: give it fewer actions, or shorter texts
                """)
        }
        try database.change(
            """
            INSERT INTO trace (trace, at, rule, fired, json) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (trace) DO UPDATE SET fired = excluded.fired, json = excluded.json
            """, .text(trace.id), .integer(trace.at), .text(trace.rule), .integer(trace.isFiring ? 1 : 0),
            .text(trace.json))
    }
}
