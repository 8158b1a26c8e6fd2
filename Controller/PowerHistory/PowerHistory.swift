import DurableFiles
import GRDB
public import PlugModel
import Synchronization

/// What the plugs of a house reported, for years: samples, what sums them up, energy and events, in one SQLite database.
///
/// Chunks of samples are kept as the plugs sent them. Roll-ups are a function of chunks and counter readings alone: in
/// whatever order these arrive, and however late, the same comes out. Several processes may have it open; one records.
/// Any thread may call; a call blocks as long as the disk takes.
public final class PowerHistory: Sendable {
    public enum Role: Hashable, Sendable {
        /// Has the directory for itself, as far as recording goes. Makes it where it is missing, and brings an older
        /// database up to date.
        case recorder
        /// Writes beside a recorder, and else does the same.
        case writer
        /// Changes nothing, and needs a database that is there.
        case reader
    }

    let path: String
    /// Where it is.
    public let directory: String
    let retention: HistoryRetention
    let complain: @Sendable (String) -> Void
    /// Another one once a damaged database was mended.
    private let opened: Mutex<DatabaseQueue>
    private let hasComplained = Mutex(false)
    /// Of a recorder.
    private let lock: DirectoryLock?
    /// Of a recorder, where there was room for it.
    private let unwritten: UnwrittenBatch?
    /// Something is in it.
    private let hasUnwritten = Mutex(false)

    /// - Parameters:
    ///   - directory: See ``defaultDirectory()``.
    ///   - complain: takes what a person should know, with a `hint:` line.
    /// - Throws: ``HistoryError/Reason/absent`` for a reader where nothing was ever recorded.
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
        opened = Mutex(try Opening(path: path, role: role, complain: complain).queue())
        unwritten = role == .recorder ? try? UnwrittenBatch(in: directory) : nil
        if let left = unwritten?.kept() {
            hasUnwritten.withLock { $0 = true }
            // Where there is no room still, it stays where it is, and comes with the next that is stored.
            try? record(left)
        }
    }

    var queue: DatabaseQueue { opened.withLock { $0 } }

    /// Under `$STATE_DIRECTORY` for a service, else where a person's programs keep their state.
    public static func defaultDirectory() -> String {
        (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/history"
    }

    /// Stores all of it, or, where it throws, nothing. What is there already is left as it is, so that anything may be stored
    /// twice. Samples that were forgotten by age do not come back.
    public func record(_ batch: HistoryBatch) throws(HistoryError) {
        do throws(HistoryError) {
            try store(batch)
        } catch {
            if error.reason == .full { keepUnwritten(batch) }
            throw error
        }
        guard hasUnwritten.withLock({ $0 }) else { return }
        // What is in it was stored before, or with this: nothing is stored out of it that is older.
        if let left = unwritten?.kept() { try store(left) }
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

    /// A batch that is tried again holds what came before; where another one waits in the same place, both are kept.
    private func keepUnwritten(_ batch: HistoryBatch) {
        guard let unwritten else { return }
        var all = hasUnwritten.withLock { $0 } ? unwritten.kept() ?? HistoryBatch() : HistoryBatch()
        all.unite(batch)
        guard (try? unwritten.keep(all)) != nil else { return }
        hasUnwritten.withLock { $0 = true }
    }

    /// Does it again where damage refused it and a recorder has mended that: it would be refused for ever, and the plugs keep
    /// their samples only for days.
    func mending<Value>(_ body: () throws(HistoryError) -> Value) throws(HistoryError) -> Value {
        let queue = queue
        do throws(HistoryError) {
            return try body()
        } catch {
            guard error.reason == .damaged, lock != nil else { throw error }
            try opened.withLock { opened throws(HistoryError) in
                // Unless somebody else who met it was first.
                if opened === queue { opened = try mended(opened) }
            }
            return try body()
        }
    }

    /// What is to be fetched of a boot: the time from the plug's zero to `now` without what was fetched.
    /// - Parameter now: milliseconds of the plug's clock, and so is the answer, the newest span first.
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

    /// The last event stored of each plug that has one.
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

    /// Says once in the life of the process that something is damaged.
    func tellDamage() {
        let isFirst = hasComplained.withLock { told in
            defer { told = true }
            return !told
        }
        guard isFirst else { return }
        complain(
            """
            the history \(path) is damaged in places; what is readable is shown, the rest is left out
            hint: the storage may be failing: see the kernel's log (dmesg); keep a copy of the file
            """)
    }

    /// One transaction that sees one state of the database.
    func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        try queue.reading(path, body)
    }

    /// One transaction, all of which is kept over a loss of power, or nothing.
    func write<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        do {
            return try queue.write(body)
        } catch {
            throw HistoryError(any: error, path)
        }
    }
}

extension DatabaseQueue {
    /// One transaction that sees one state of the database.
    func reading<Value>(_ path: String, _ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        var value: Value?
        do {
            try read { value = try body($0) }
        } catch {
            // Where a damaged page was met, even the end of a transaction that only read is refused.
            if let value, (error as? DatabaseError)?.isDamage == true { return value }
            throw HistoryError(any: error, path)
        }
        guard let value else { preconditionFailure("a transaction without an error has run") }
        return value
    }
}
