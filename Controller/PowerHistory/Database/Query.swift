import GRDB
import GRDBSQLite

/// A value that is bound to a parameter of an SQL statement.
enum SQLValue {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case null

    /// The integer; nil for every other value.
    var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
}

/// The current row of a running statement. It is valid only until the statement's next step.
struct SQLRow {
    fileprivate let statement: OpaquePointer

    var columns: Int32 { sqlite3_column_count(statement) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns milliseconds since 1970 or of a plug's clock. A damaged value is clamped to the range in which
    /// arithmetic on times does not overflow.
    func time(_ column: Int32) -> Int64 { Self.time(integer(column)) }

    static func time(_ milliseconds: Int64) -> Int64 { min(max(milliseconds, -timeLimit), timeLimit) }

    /// Twice the limit of stored times, because a wall time is the sum of an origin and a plug's clock.
    static let timeLimit = 2 * BatchTransaction.timeLimit

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(sqlite3_column_bytes(statement, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ column: Int32) -> String {
        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}

extension Database {
    /// Runs a statement through SQLite's C interface, without a boxed object per value. The statement is cached, so
    /// `row` must not run the same statement.
    func query(_ sql: String, _ values: SQLValue..., row: (SQLRow) throws -> Void) throws {
        try query(sql, all: values, row: row)
    }

    func query(_ sql: String, all values: [SQLValue], row: (SQLRow) throws -> Void) throws {
        let cached = try cachedStatement(sql: sql)
        let statement = cached.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1), of: statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try row(SQLRow(statement: statement))
            case SQLITE_DONE: return withExtendedLifetime(cached) {}
            case let code: throw failure(code, sql)
            }
        }
    }

    /// Runs a statement without a result.
    func change(_ sql: String, _ values: SQLValue...) throws {
        let cached = try cachedStatement(sql: sql)
        let statement = cached.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1), of: statement) }
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code, sql) }
        withExtendedLifetime(cached) {}
    }

    /// Returns the first value of the first row; nil without a row or for NULL.
    func integer(_ sql: String, _ values: SQLValue...) throws -> Int64? {
        let cached = try cachedStatement(sql: sql)
        let statement = cached.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1), of: statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW:
            let row = SQLRow(statement: statement)
            return row.isNull(0) ? nil : row.integer(0)
        case SQLITE_DONE: return withExtendedLifetime(cached) { nil }
        case let code: throw failure(code, sql)
        }
    }

    private func bind(_ value: SQLValue, at index: Int32, of statement: OpaquePointer) throws {
        let code =
            switch value {
            case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
            case .bytes(let bytes): bytes.withUnsafeBytes { bind($0, at: index, of: statement) }
            case .text(let text):
                sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), Self.copied)
            case .null: sqlite3_bind_null(statement, index)
            }
        guard code == SQLITE_OK else { throw failure(code, "a value") }
    }

    /// Binds empty bytes as an empty blob, not as NULL.
    private func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32, of statement: OpaquePointer) -> Int32 {
        guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
        return sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
    }

    /// SQLITE_TRANSIENT, a C macro that Swift cannot import. With this value, SQLite copies the bytes.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        let message = sqliteConnection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) }
        return DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
    }
}
