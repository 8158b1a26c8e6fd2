import GRDB
import LinuxSystem
import PlugModel
import PlugTopics

/// Stores the events for the broker and the position of the last acknowledged event, in one SQLite file. Recent events
/// stay in the file after the broker has acknowledged them. The content survives a crash. After a power loss the plugs
/// send the missing events again, since their cursors are in the same file.
///
/// The class is safe on any thread. Calls block while the disk is busy.
final class BrokerJournal: Sendable {
    /// The maximum number of stored events, about 30 MB. It limits the disk space while a broker is unreachable for
    /// months. The oldest events are deleted first.
    static let limit: UInt64 = 100_000
    /// Events above the limit are deleted each time the newest position passes a multiple of this number.
    private static let slack: UInt64 = 1000
    /// The maximum number of events in one answer to a replay request.
    private static let replayLimit = 100
    /// The maximum time to wait for another process's lock of the file, in seconds.
    private static let patience = 5.0

    /// The data that the previous process stored.
    struct Memory: Sendable {
        var acknowledged: QueuedEvent.Position = 0
        var newest: QueuedEvent.Position = 0
        /// The number of the last handled event of each plug. The event itself may be deleted by now.
        var cursors: [PlugID: SequenceNumber] = [:]
        /// The plugs with messages at the broker.
        var published: Set<PlugID> = []
        /// The client id at the broker.
        var client = ""
    }

    /// Changes that are written in one transaction.
    struct Change: Sendable {
        var entries: [QueuedEvent] = []
        /// The new cursors of plugs whose cursor advanced without an event.
        var cursors: [PlugID: SequenceNumber] = [:]
        var acknowledged: QueuedEvent.Position?
        var published: [PlugID: Bool] = [:]

        var isEmpty: Bool { entries.isEmpty && cursors.isEmpty && acknowledged == nil && published.isEmpty }

        /// Returns this change combined with a later one.
        func followed(by other: Change) -> Change {
            var both = self
            both.entries += other.entries.filter { $0.position > entries.last?.position ?? 0 }
            both.cursors.merge(other.cursors) { $1 }
            both.acknowledged = other.acknowledged ?? acknowledged
            both.published.merge(other.published) { $1 }
            return both
        }
    }

    let memory: Memory
    private let queue: DatabaseQueue

    /// Opens the file, or creates it if it is missing.
    ///
    /// - Throws: errors of the file system or SQLite.
    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // A crash of the process loses no transaction. A power loss may lose the last transactions: events together
            // with their cursors.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        // Created here with mode 0600, because SQLite would make the file readable for all users.
        try FileStore().makeFileIfAbsent(path, mode: 0o600)
        queue = try DatabaseQueue(path: path, configuration: configuration)
        memory = try queue.write { database in
            try Self.makeTables(database)
            return try Self.memory(database)
        }
    }

    private static func makeTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS event (position INTEGER PRIMARY KEY, plug TEXT NOT NULL, seq INTEGER NOT NULL,
                    payload TEXT NOT NULL) STRICT;
                CREATE INDEX IF NOT EXISTS event_of_plug ON event (plug, seq);
                CREATE TABLE IF NOT EXISTS plug (id TEXT PRIMARY KEY, cursor INTEGER, published INTEGER NOT NULL DEFAULT 0)
                    STRICT;
                CREATE TABLE IF NOT EXISTS house (client TEXT NOT NULL, acknowledged INTEGER NOT NULL, newest INTEGER NOT NULL)
                    STRICT;
                """)
        guard try Int.fetchOne(database, sql: "SELECT count(*) FROM house") == 0 else { return }
        var random = SystemRandomNumberGenerator()
        let client = "smartplug-" + String(random.next() as UInt64, radix: 16)
        try database.execute(sql: "INSERT INTO house VALUES (?, 0, 0)", arguments: [client])
    }

    private static func memory(_ database: Database) throws -> Memory {
        var memory = Memory()
        if let house = try Row.fetchOne(database, sql: "SELECT client, acknowledged, newest FROM house") {
            memory.client = house[0]
            memory.acknowledged = UInt64(clamping: house[1] as Int64)
            memory.newest = UInt64(clamping: house[2] as Int64)
        }
        for row in try Row.fetchAll(database, sql: "SELECT id, cursor, published FROM plug") {
            guard let plug = PlugID(rawValue: row[0]) else { continue }
            if let cursor = row[1] as Int64? { memory.cursors[plug] = UInt64(bitPattern: cursor) }
            if row[2] as Bool { memory.published.insert(plug) }
        }
        return memory
    }

    func write(_ change: Change) throws {
        try queue.write { database in
            for entry in change.entries {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?)",
                    arguments: [
                        Int64(clamping: entry.position), entry.plug.rawValue, Int64(bitPattern: entry.sequence),
                        entry.payload,
                    ])
                try Self.note(entry.sequence, of: entry.plug, database)
            }
            for (plug, cursor) in change.cursors { try Self.note(cursor, of: plug, database) }
            for (plug, isPublished) in change.published {
                try database.execute(
                    sql: """
                        INSERT INTO plug (id, published) VALUES (?, ?)
                        ON CONFLICT (id) DO UPDATE SET published = excluded.published
                        """, arguments: [plug.rawValue, isPublished])
            }
            if let acknowledged = change.acknowledged {
                try database.execute(
                    sql: "UPDATE house SET acknowledged = ?", arguments: [Int64(clamping: acknowledged)])
            }
            guard let newest = change.entries.last?.position else { return }
            try database.execute(sql: "UPDATE house SET newest = ?", arguments: [Int64(clamping: newest)])
            guard newest > Self.limit, newest % Self.slack < UInt64(change.entries.count) else { return }
            try database.execute(
                sql: "DELETE FROM event WHERE position <= ?", arguments: [Int64(clamping: newest - Self.limit)])
        }
    }

    private static func note(_ cursor: SequenceNumber, of plug: PlugID, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO plug (id, cursor) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET cursor = excluded.cursor",
            arguments: [plug.rawValue, Int64(bitPattern: cursor)])
    }

    /// Returns at most `limit` events in the order of their positions.
    func entries(after position: QueuedEvent.Position, limit: Int) throws -> [QueuedEvent] {
        try queue.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT position, plug, seq, payload FROM event WHERE position > ? ORDER BY position LIMIT ?",
                arguments: [Int64(clamping: position), limit]
            ).compactMap { row in
                guard let plug = PlugID(rawValue: row[1]) else { return nil }
                return QueuedEvent(
                    position: UInt64(clamping: row[0] as Int64), plug: plug,
                    sequence: UInt64(bitPattern: row[2] as Int64), payload: row[3])
            }
        }
    }

    /// Returns the messages of at most `replayLimit` events of a plug, in the order of their numbers, and true if more
    /// events follow.
    func events(of plug: PlugID, after sequence: SequenceNumber) throws -> (messages: [String], hasMore: Bool) {
        let found = try queue.read { database in
            try String.fetchAll(
                database, sql: "SELECT payload FROM event WHERE plug = ? AND seq > ? ORDER BY seq LIMIT ?",
                arguments: [plug.rawValue, Int64(clamping: sequence), Self.replayLimit + 1])
        }
        return (Array(found.prefix(Self.replayLimit)), found.count > Self.replayLimit)
    }
}
