import GRDB

/// The tables, and the migrations of earlier versions. A released migration never changes; each later change is a new
/// migration.
enum Schema {
    /// The page size is a compromise: cells of several kilobytes fill their pages, and a chunk needs only few pages.
    static let pageSize = 4096

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: first) }
        migrator.registerMigration("2") { try $0.execute(sql: traces) }
        migrator.registerMigration("3") { try $0.execute(sql: FeedSchema.tables) }
        return migrator
    }

    /// Times are milliseconds: `since`, `until`, `wall` and `at` since 1970 (UTC); `first`, `last`, `newest` and
    /// `clock` of the plug's clock, which starts at its boot. `origin` is the wall clock at the zero of the plug's
    /// clock.
    private static let first = """
        -- samples_from, minutes_from: older rows were deleted by age. longest: the longest span of a chunk. cursor: the last stored event.
        CREATE TABLE plug (
            id INTEGER PRIMARY KEY, plug TEXT NOT NULL UNIQUE, name TEXT NOT NULL DEFAULT '',
            longest INTEGER NOT NULL DEFAULT 0, cursor INTEGER, samples_from INTEGER, minutes_from INTEGER);
        -- The newest known time of a boot, and its origin. A different origin means that the wall clock was set.
        CREATE TABLE boot (
            id INTEGER PRIMARY KEY, plug INTEGER NOT NULL, boot BLOB NOT NULL,
            origin INTEGER, newest INTEGER, UNIQUE (plug, boot));
        -- bytes: a sample chunk as the plug sent it; crc: its CRC-32.
        CREATE TABLE chunk (
            id INTEGER PRIMARY KEY, plug INTEGER NOT NULL, boot INTEGER NOT NULL, first INTEGER NOT NULL,
            count INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, crc INTEGER NOT NULL, bytes BLOB NOT NULL);
        CREATE INDEX chunk_by_boot ON chunk (boot, first);
        CREATE INDEX chunk_by_time ON chunk (plug, since, until);
        CREATE TABLE fetched (
            boot INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (boot, first)) WITHOUT ROWID;
        CREATE TABLE counter (
            plug INTEGER NOT NULL, wall INTEGER NOT NULL, boot INTEGER NOT NULL, clock INTEGER NOT NULL,
            milliwatt_hours INTEGER NOT NULL, PRIMARY KEY (plug, wall, boot)) WITHOUT ROWID;
        -- step: 0 minute, 1 quarter, 2 hour, 3 day; block: its number since 1970; bytes: packed entries.
        CREATE TABLE rollup (
            plug INTEGER NOT NULL, step INTEGER NOT NULL, block INTEGER NOT NULL, bytes BLOB NOT NULL,
            UNIQUE (plug, step, block));
        CREATE TABLE event (
            plug INTEGER NOT NULL, sequence INTEGER NOT NULL, bytes BLOB NOT NULL, at INTEGER NOT NULL,
            known INTEGER NOT NULL, PRIMARY KEY (plug, sequence, bytes)) WITHOUT ROWID;
        CREATE INDEX event_by_time ON event (at);
        CREATE TABLE firing (
            at INTEGER NOT NULL, rule TEXT NOT NULL, plug TEXT NOT NULL, cause TEXT NOT NULL,
            PRIMARY KEY (at, rule, plug, cause)) WITHOUT ROWID;
        """

    private static let traces = """
        -- trace: its id; fired: 0 if no action ran; json: the trace's content.
        CREATE TABLE trace (
            id INTEGER PRIMARY KEY, trace TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, rule TEXT NOT NULL,
            fired INTEGER NOT NULL, json TEXT NOT NULL);
        CREATE INDEX trace_by_rule ON trace (rule, fired, at);
        CREATE INDEX trace_by_time ON trace (at);
        """
}
