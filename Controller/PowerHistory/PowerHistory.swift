import GRDB
import LinuxSystem
public import PlugModel
import Synchronization

/// Stores the samples, roll-ups, energy and events of all plugs of a house for years, in one SQLite database.
///
/// Chunks of samples are stored as the plugs sent them. Roll-ups depend only on chunks and counter readings, so the
/// result is independent of the order and the delay in which these arrive. Several processes may open the database, but
/// only one is the recorder. All methods are thread-safe and block until the disk has finished.
public final class PowerHistory: Sendable {
    /// The access of a process to the history.
    public enum Role: Hashable, Sendable {
        /// Records exclusively: holds the lock of the directory, creates the directory if it is missing, and migrates
        /// an older database.
        case recorder
        /// Writes alongside a recorder. Like a recorder, it creates or migrates the database.
        case writer
        /// Only reads. Requires an existing database.
        case reader
    }

    let path: String
    /// The directory of the database.
    public let directory: String
    let retention: HistoryRetention
    let complain: @Sendable (String) -> Void
    /// The open database. A repair of a damaged database replaces it.
    private let opened: Mutex<DatabaseQueue>
    private let hasComplained = Mutex(false)
    /// The lock of the directory; only a recorder has one.
    private let lock: DirectoryLock?
    /// The reserved file for a batch that did not fit on the disk; only a recorder has one, if there was room to
    /// reserve it.
    private let unwritten: UnwrittenBatch?
    /// True if `unwritten` contains a batch.
    private let hasUnwritten = Mutex(false)

    /// Opens the history.
    ///
    /// - Parameters:
    ///   - directory: See ``defaultDirectory()``.
    ///   - role: The access. Only one process at a time can be the recorder.
    ///   - retention: The ages at which ``forgetOld(now:)`` deletes data.
    ///   - complain: Receives warnings for the user, each with a `hint:` line.
    /// - Throws: ``HistoryError``; the reason is ``HistoryError/Reason/absent`` if a reader finds no history, and
    ///   ``HistoryError/Reason/recorded(by:)`` if this is a second recorder.
    public init(
        _ directory: String, role: Role, retention: HistoryRetention = .standard,
        complain: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(HistoryError) {
        path = directory + "/history.sqlite"
        self.directory = directory
        self.retention = retention
        self.complain = complain
        do throws(FileError) {
            try FileStore().requireAnswer(of: directory)
            if role != .reader { try FileStore().makeDirectories(directory) }
            lock = role == .recorder ? try DirectoryLock(directory) : nil
        } catch {
            throw HistoryError(error, directory)
        }
        opened = Mutex(try DatabaseOpener(path: path, role: role, complain: complain).queue())
        unwritten = role == .recorder ? try? UnwrittenBatch(in: directory) : nil
        if let left = unwritten?.kept() {
            hasUnwritten.withLock { $0 = true }
            // If the disk is still full, the batch stays in the file and is stored with the next batch.
            try? record(left)
        }
    }

    var queue: DatabaseQueue { opened.withLock { $0 } }

    /// The default directory of the history: in `$STATE_DIRECTORY` for a service, otherwise in the user's state
    /// directory.
    public static func defaultDirectory() -> String {
        (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/history"
    }

    /// Stores the batch completely or not at all, and then the batch that an earlier call saved in the reserved file.
    /// A caller may store the same batch again, which changes nothing. Samples that retention has deleted are not
    /// stored again.
    ///
    /// - Throws: ``HistoryError``. If the disk is full, the batch without its samples is saved in a reserved file, and
    ///   a later call stores it. If only the saved batch cannot be stored, `batch` is stored although the call throws.
    public func record(_ batch: HistoryBatch) throws(HistoryError) {
        do throws(HistoryError) {
            try store(batch)
        } catch {
            if error.reason == .full { keepUnwritten(batch) }
            throw error
        }
        guard hasUnwritten.withLock({ $0 }) else { return }
        // The saved batch is stored second. It was saved by an earlier call, may contain the same entries as this
        // batch, and has older names.
        if var left = unwritten?.kept() {
            left.names = left.names.filter { batch.names[$0.key] == nil }
            try store(left)
        }
        try? unwritten?.clear()
        hasUnwritten.withLock { $0 = false }
    }

    private func store(_ batch: HistoryBatch) throws(HistoryError) {
        let complain = complain
        try mending { () throws(HistoryError) in
            try write { database in
                var transaction = BatchTransaction(database, complain: complain)
                try transaction.store(batch)
            }
        }
    }

    /// Saves a batch in the reserved file. If the file already contains a batch, the two are merged: entries that both
    /// contain are saved once.
    private func keepUnwritten(_ batch: HistoryBatch) {
        guard let unwritten else { return }
        var all = hasUnwritten.withLock { $0 } ? unwritten.kept() ?? HistoryBatch() : HistoryBatch()
        all.unite(batch)
        guard (try? unwritten.keep(all)) != nil else { return }
        hasUnwritten.withLock { $0 = true }
    }

    /// Runs the body, and runs it again after a repair if the database is damaged and this process is the recorder.
    /// Without the repair each write would fail forever, and the plugs keep their samples only for days.
    func mending<Value>(_ body: () throws(HistoryError) -> Value) throws(HistoryError) -> Value {
        let queue = queue
        do throws(HistoryError) {
            return try body()
        } catch {
            guard error.reason == .damaged, lock != nil else { throw error }
            try opened.withLock { opened throws(HistoryError) in
                // Another thread may already have repaired the database.
                if opened === queue { opened = try mended(opened) }
            }
            return try body()
        }
    }

    /// Returns the spans of a boot that remain to be fetched: the time from the zero of the plug's clock to `now`,
    /// without the fetched spans.
    ///
    /// - Parameter now: Milliseconds of the plug's clock.
    /// - Returns: Spans in milliseconds of the plug's clock, newest first.
    public func missing(
        of plug: PlugID, boot: BootID, through now: Int64
    ) throws(HistoryError) -> [ClosedRange<Int64>] {
        guard now >= 0 else { return [] }
        return try mending { () throws(HistoryError) in
            try read { database in
                var spans: [ClosedRange<Int64>] = []
                var next: Int64 = 0
                try database.query(
                    """
                    SELECT first, last FROM fetched WHERE last >= 0 AND first <= ? AND boot =
                        (SELECT boot.id FROM boot JOIN plug ON plug.id = boot.plug WHERE plug.plug = ? AND boot.boot = ?)
                    ORDER BY first
                    """, .integer(now), .text(plug.rawValue), .bytes(boot.bytes)
                ) { row in
                    if row.integer(0) > next { spans.append(next...row.integer(0) - 1) }
                    next = row.integer(1).addingClamped(1)
                }
                if next <= now { spans.append(next...now) }
                return spans.reversed()
            }
        }
    }

    /// Returns the cursor of each plug that has one: the sequence number of its last stored event, or the end of a
    /// stored gap if that is later.
    public func cursors() throws(HistoryError) -> [PlugID: SequenceNumber] {
        try mending { () throws(HistoryError) in
            try read { database in
                var cursors: [PlugID: SequenceNumber] = [:]
                try database.query("SELECT plug, cursor FROM plug WHERE cursor IS NOT NULL") { row in
                    guard let plug = PlugID(rawValue: row.text(0)) else { return }
                    cursors[plug] = SequenceNumber(bitPattern: row.integer(1))
                }
                return cursors
            }
        }
    }

    /// Reports damage to the user. Only the first call has an effect.
    func reportDamage() {
        let isFirst = hasComplained.withLock { told in
            defer { told = true }
            return !told
        }
        guard isFirst else { return }
        complain(
            """
            the history \(path) is partly damaged; unreadable parts are left out
            hint: the storage may be failing; check the kernel's log (dmesg), and keep a copy of the file
            """)
    }

    /// Runs a read transaction, which sees one state of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        try queue.reading(path, body)
    }

    /// Runs a write transaction. It is atomic, and durable after a power loss.
    func write<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        do {
            return try queue.write(body)
        } catch {
            throw HistoryError(any: error, path)
        }
    }
}

extension DatabaseQueue {
    /// Runs a read transaction, which sees one state of the database.
    func reading<Value>(_ path: String, _ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        var value: Value?
        do {
            try read { value = try body($0) }
        } catch {
            // After a damaged page was read, SQLite refuses even the end of a read transaction. The body has finished,
            // so its value is returned.
            if let value, (error as? DatabaseError)?.isDamage == true { return value }
            throw HistoryError(any: error, path)
        }
        guard let value else { preconditionFailure("a transaction without an error has run") }
        return value
    }
}
