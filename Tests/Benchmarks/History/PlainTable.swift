import GRDBSQLite
import Metering

/// The simplest SQLite table of samples, as a reference: one row per sample, in one B-tree (WITHOUT ROWID) without
/// further indexes, read and written with SQLite's C interface.
final class PlainTable {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?
    private let path: String

    init(_ path: String, hasVoltage: Bool = false) throws {
        self.path = path
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw BenchmarkError("SQLite cannot open \(path)") }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        try run(
            """
            CREATE TABLE IF NOT EXISTS sample(plug INTEGER, time INTEGER, watts REAL\(hasVoltage ? ", volts REAL, amperes REAL" : ""),
            PRIMARY KEY(plug, time)) WITHOUT ROWID
            """)
        insert = try prepare("INSERT INTO sample VALUES(?, ?, ?\(hasVoltage ? ", ?, ?" : ""))")
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_close(database)
    }

    func run(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }
    }

    /// Adds a sample. The caller opens and commits the transaction.
    func add(_ sample: Sample, of plug: Int64) throws {
        sqlite3_bind_int64(insert, 1, plug)
        sqlite3_bind_int64(insert, 2, sample.milliseconds)
        sqlite3_bind_double(insert, 3, sample.activePower)
        if let volts = sample.voltageRMS { sqlite3_bind_double(insert, 4, volts) }
        if let amperes = sample.currentRMS { sqlite3_bind_double(insert, 5, amperes) }
        guard sqlite3_step(insert) == SQLITE_DONE else {
            throw BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }
        sqlite3_reset(insert)
    }

    /// Adds samples in one transaction.
    func add(_ samples: [Sample], of plug: Int64) throws {
        try run("BEGIN")
        for sample in samples { try add(sample, of: plug) }
        try run("COMMIT")
    }

    /// Calls `body` with the first two columns of each row: an integer and a number.
    func rows(_ sql: String, _ body: (Int64, Double) -> Void) throws {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW {
            body(sqlite3_column_int64(statement, 0), sqlite3_column_double(statement, 1))
        }
    }

    /// Returns the size of the file in bytes after a checkpoint of the write-ahead log.
    func size() throws -> Double {
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        return try fileSize(path)
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
        }
        return statement
    }
}
