import GRDB

extension BatchTransaction {
    /// Stores a trace. The newest version of a trace replaces the stored one. If the beginning of the newest version is
    /// missing, it replaces only a stored version whose beginning is missing too.
    func store(_ trace: StoredTrace) throws {
        guard trace.json.utf8.count <= StoredTrace.limit else {
            return complain(
                """
                a trace of the rule \(trace.rule) is too long to be stored
                hint: use fewer actions or shorter texts in the rule
                """)
        }
        try database.change(
            """
            INSERT INTO trace (trace, at, rule, fired, json) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (trace) DO UPDATE SET fired = excluded.fired, json = excluded.json
                WHERE ?6 = 0 OR instr(json, '"isPart":true')
            """, .text(trace.id), .integer(trace.at), .text(trace.rule), .integer(trace.isFiring ? 1 : 0),
            .text(trace.json), .integer(trace.isPart ? 1 : 0))
    }
}
