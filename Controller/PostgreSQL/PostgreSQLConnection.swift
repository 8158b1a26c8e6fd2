import CPostgreSQL
import LinuxSystem
import Synchronization

/// A connection to PostgreSQL by libpq, which is loaded by the first connection.
///
/// Calls block, and must come from one thread at a time. Each step of a call waits at most for the time limit: a
/// statement, sending the rows of a copy, or the answer to these rows. Only ``giveUp()`` is safe on any thread.
public final class PostgreSQLConnection: Sendable {
    /// The connection of libpq.
    private let link: Link
    private let patience: Int32
    private let isBusy = Mutex(())

    /// Frees the connection when the last reference is released.
    private final class Link: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
        deinit { smartplug_pg_free(pointer) }
    }

    /// Creates a connection that is not connected yet.
    ///
    /// - Parameter patience: the maximum time that each step of a call waits for the server.
    public init(patience: Duration = .seconds(30)) {
        guard let pointer = smartplug_pg_new() else { preconditionFailure("out of memory") }
        link = Link(pointer)
        let (seconds, attoseconds) = patience.components
        self.patience = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    /// Connects to the server. Call it once.
    ///
    /// - Throws: `PostgreSQLError` if the password file exists but cannot be read, or if the server does not accept the
    ///   connection in time.
    public func connect(_ settings: PostgreSQLSettings) throws(PostgreSQLError) {
        let options: [(key: String, value: String)]
        do throws(FileError) {
            options = try settings.options()
        } catch {
            throw PostgreSQLError("\(error)")
        }
        try call { link, fault -> Bool? in
            Self.withTexts(options.map(\.key)) { keys -> Bool? in
                Self.withTexts(options.map(\.value)) { values -> Bool? in
                    smartplug_pg_connect(link, keys, values, patience, &fault) == 0 ? true : nil
                }
            }
        }
    }

    /// Makes all calls fail from now on, including the current one.
    public func giveUp() { smartplug_pg_give_up(link.pointer) }

    /// Runs a statement with values for `$1`, `$2` ...; without values the text may contain several statements.
    ///
    /// - Returns: the rows of the last statement as texts; nil for null.
    @discardableResult
    public func rows(_ sql: String, _ values: [String?] = []) throws(PostgreSQLError) -> [[String?]] {
        let rows = try call { link, fault -> OpaquePointer? in
            Self.withTexts(values) { texts -> OpaquePointer? in
                smartplug_pg_run(link, sql, texts, Int32(values.count), patience, &fault)
            }
        }
        defer { smartplug_pg_rows_free(rows) }
        return (0..<smartplug_pg_row_count(rows)).map { row in
            (0..<smartplug_pg_column_count(rows)).map { column -> String? in
                var length = 0
                guard let start = smartplug_pg_value(rows, row, column, &length) else { return nil }
                return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
            }
        }
    }

    /// Returns the first value of the first row.
    public func value(_ sql: String, _ values: [String?] = []) throws(PostgreSQLError) -> String? {
        try rows(sql, values).first?.first ?? nil
    }

    /// Copies rows in the binary format into a table. `columns` lists the columns of the rows in the same order,
    /// separated by commas.
    public func copy(_ rows: BinaryRows, into table: String, _ columns: String) throws(PostgreSQLError) {
        guard rows.count > 0 else { return }
        try self.rows("COPY \(table) (\(columns)) FROM STDIN (FORMAT binary)")
        try call { link, fault -> Bool? in
            rows.finished.withUnsafeBytes { bytes -> Bool? in
                let start = bytes.bindMemory(to: CChar.self).baseAddress
                guard smartplug_pg_copy(link, start, bytes.count, patience, &fault) == 0,
                    smartplug_pg_copy_end(link, patience, &fault) == 0
                else { return nil }
                return true
            }
        }
    }

    @discardableResult
    private func call<Value>(
        _ body: (OpaquePointer, inout smartplug_pg_fault) -> Value?
    ) throws(PostgreSQLError) -> Value {
        var fault = smartplug_pg_fault()
        let value = isBusy.withLock { _ in Unsent(body(link.pointer, &fault)) }.value
        if let value { return value }
        func text(_ bytes: UnsafeRawBufferPointer) -> String {
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let state = withUnsafeBytes(of: fault.state, text)
        throw PostgreSQLError(withUnsafeBytes(of: fault.text, text), state: state.isEmpty ? nil : state)
    }

    /// Moves a value out of the lock on the same thread.
    private struct Unsent<Value>: @unchecked Sendable {
        let value: Value?
        init(_ value: Value?) { self.value = value }
    }

    /// Calls the body with the texts as a NULL-terminated array of C strings; nil becomes NULL.
    private static func withTexts<Value>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = texts.map { $0.map(Self.copy) }
        defer { for copy in copies { copy?.deallocate() } }
        let pointers = copies.map { $0.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) } } + [nil]
        return pointers.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("an array with an element has an address") }
            return body(start)
        }
    }

    /// Returns a copy with a terminating zero. PostgreSQL texts cannot contain other zeros.
    private static func copy(_ text: String) -> UnsafeMutablePointer<UInt8> {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: text.utf8.count + 1)
        var end = 0
        for byte in text.utf8 {
            copy[end] = byte == 0 ? 0x20 : byte
            end += 1
        }
        copy[end] = 0
        return copy
    }
}
