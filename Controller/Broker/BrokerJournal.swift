import DurableFiles
import GRDB
import PlugModel
import PlugTopics

/// The events that the broker is to hear, or has heard lately, and how far it has heard them: one SQLite file. What is in it survives a killed
/// process; after a loss of power the plugs tell again what had not reached the disk, since their cursors stand in the same file.
///
/// Any thread may call; a call blocks as long as the disk takes.
final class BrokerJournal: Sendable {
    /// Events that are kept, about 30 MB: stops a broker that is away for months from filling the disk. The oldest go first.
    static let limit: UInt64 = 100_000
    /// How many more there may be before they go.
    private static let slack: UInt64 = 1000
    /// Events in one answer to a request for a replay.
    private static let replayLimit = 100
    /// Seconds that another process may keep the file locked.
    private static let patience = 5.0

    /// What the process before left.
    struct Memory: Sendable {
        var acknowledged: QueuedEvent.Position = 0
        var newest: QueuedEvent.Position = 0
        /// The last event of each plug that is in it, or was.
        var cursors: [PlugID: SequenceNumber] = [:]
        /// Plugs of which the broker has messages.
        var published: Set<PlugID> = []
        /// The name of the session at the broker.
        var client = ""
    }

    /// What changes together.
    struct Change: Sendable {
        var entries: [QueuedEvent] = []
        /// Where plugs are of which there is no event yet.
        var cursors: [PlugID: SequenceNumber] = [:]
        var acknowledged: QueuedEvent.Position?
        var published: [PlugID: Bool] = [:]

        var isEmpty: Bool { entries.isEmpty && cursors.isEmpty && acknowledged == nil && published.isEmpty }

        /// This, and then the other.
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

    /// Opens the file, and makes it where it is missing.
    ///
    /// - Throws: what the file system or SQLite says.
    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            // A killed process loses nothing; a loss of power may take the last moments, and their cursors with them.
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        // SQLite would let everybody read it.
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

    /// In order.
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

    /// Messages of a plug's events, in order, and whether there are more behind them.
    func events(of plug: PlugID, after sequence: SequenceNumber) throws -> (messages: [String], hasMore: Bool) {
        let found = try queue.read { database in
            try String.fetchAll(
                database, sql: "SELECT payload FROM event WHERE plug = ? AND seq > ? ORDER BY seq LIMIT ?",
                arguments: [plug.rawValue, Int64(clamping: sequence), Self.replayLimit + 1])
        }
        return (Array(found.prefix(Self.replayLimit)), found.count > Self.replayLimit)
    }
}
