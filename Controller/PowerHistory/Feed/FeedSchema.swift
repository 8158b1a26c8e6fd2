import GRDB

/// The tables and triggers that number the changes of a history for delivery to another system.
/// ``PowerHistory/beginFeed(_:)`` creates the triggers.
///
/// The triggers are not part of the migrations: with them, the schema of a new history would exceed the first page, and
/// `DamagedPages` requires that it fits into this page.
enum FeedSchema {
    /// The kind of a change, as stored in the column `kind`, with the meaning of the columns `a` and `b`.
    enum Kind: Int64 {
        /// A plug is new or has a new name.
        case plug
        /// `a`: the row of the chunk.
        case chunk
        /// `a`: the step; `b`: the block.
        case rollUp
        /// `a`: the sequence number.
        case event
        /// `a`: the hour since 1970.
        case counters
    }

    static let counterHour: Int64 = 3_600_000

    /// A migration step, which never changes.
    static let tables = """
        -- One row, if the history is sent to a database or a server. last: the number of the newest change.
        CREATE TABLE feed (last INTEGER NOT NULL);
        -- The epoch of the changes after since. A copy of the database that diverged has a different epoch.
        CREATE TABLE epoch (id INTEGER PRIMARY KEY, epoch BLOB NOT NULL UNIQUE, since INTEGER NOT NULL);
        -- Changed objects, each one once, with the number of its last change.
        CREATE TABLE change (
            kind INTEGER NOT NULL, plug INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (kind, plug, a, b)) WITHOUT ROWID;
        CREATE UNIQUE INDEX change_by_number ON change (number);
        """

    private static let triggers = [
        trigger("AFTER INSERT ON plug", .plug, "new.id, 0, 0"),
        trigger("AFTER UPDATE OF name ON plug", .plug, "new.id, 0, 0", when: "old.name <> new.name"),
        trigger("AFTER INSERT ON chunk", .chunk, "new.plug, new.id, 0"),
        trigger("AFTER UPDATE OF since, until, count, bytes ON chunk", .chunk, "new.plug, new.id, 0"),
        // Chunks are deleted only by age, and the deletion is not a change.
        """
        CREATE TRIGGER IF NOT EXISTS feed_after_delete_on_chunk AFTER DELETE ON chunk BEGIN
            DELETE FROM change WHERE kind = \(Kind.chunk.rawValue) AND plug = old.plug AND a = old.id AND b = 0;
        END;
        """,
        trigger("AFTER INSERT ON rollup", .rollUp, "new.plug, new.step, new.block"),
        trigger("AFTER UPDATE OF bytes ON rollup", .rollUp, "new.plug, new.step, new.block"),
        trigger("AFTER DELETE ON rollup", .rollUp, "old.plug, old.step, old.block"),
        trigger("AFTER INSERT ON event", .event, "new.plug, new.sequence, 0"),
        trigger("AFTER INSERT ON counter", .counters, "new.plug, new.wall / \(counterHour), 0"),
        trigger("AFTER UPDATE OF milliwatt_hours ON counter", .counters, "new.plug, new.wall / \(counterHour), 0"),
    ]

    private static func trigger(_ happening: String, _ kind: Kind, _ key: String, when: String = "1") -> String {
        let name = happening.lowercased().replacing(",", with: "").replacing(" ", with: "_")
        return """
            CREATE TRIGGER IF NOT EXISTS feed_\(name) \(happening) WHEN \(when) BEGIN
                UPDATE feed SET last = last + 1;
                INSERT INTO change (kind, plug, a, b, number) SELECT \(kind.rawValue), \(key), last FROM feed WHERE true
                    ON CONFLICT (kind, plug, a, b) DO UPDATE SET number = excluded.number;
            END;
            """
    }

    /// Numbers all existing rows, oldest first, and creates the triggers that number later changes.
    static func begin(_ database: Database) throws {
        try database.execute(sql: triggers.joined(separator: "\n"))
        let lengths = RollUpStep.allCases.map { "WHEN \($0.rawValue) THEN \($0.blockMilliseconds)" }.joined(
            separator: " ")
        try database.execute(
            sql: """
                INSERT INTO change (kind, plug, a, b, number)
                SELECT kind, plug, a, b, row_number() OVER (ORDER BY at, kind, plug, a, b) FROM (
                    SELECT 0 AS kind, id AS plug, 0 AS a, 0 AS b, -1e18 AS at FROM plug
                    UNION ALL SELECT 1, plug, id, 0, since FROM chunk
                    UNION ALL SELECT 2, plug, step, block, block * CASE step \(lengths) ELSE 0 END FROM rollup
                    UNION ALL SELECT 3, plug, sequence, 0, min(at) FROM event GROUP BY plug, sequence
                    UNION ALL SELECT 4, plug, wall / \(counterHour), 0, min(wall) FROM counter
                        GROUP BY plug, wall / \(counterHour));
                INSERT INTO feed (last) SELECT ifnull(max(number), 0) FROM change;
                """)
    }

    /// Removes the changes of deleted minutes and counter readings. Deletion by age is not delivered.
    static func forgetMinutes(of plug: Int64, through block: Int64, horizon: Int64, _ database: Database) throws {
        try database.change(
            "DELETE FROM change WHERE kind = ? AND plug = ? AND a = 0 AND b <= ?", .integer(Kind.rollUp.rawValue),
            .integer(plug), .integer(block))
        try database.change(
            "DELETE FROM change WHERE kind = ? AND plug = ? AND a < ?", .integer(Kind.counters.rawValue),
            .integer(plug), .integer(floorQuotient(horizon, counterHour)))
    }
}
