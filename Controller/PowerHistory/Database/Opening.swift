import DurableFiles
import GRDB

/// Opens the database's file, and makes it or brings it up to date where that is allowed.
struct Opening {
    let path: String
    let role: PowerHistory.Role
    let complain: (String) -> Void

    /// How long another process may keep the database locked, in seconds.
    private static let patience = 5.0
    /// What the log beside the database may keep of the disk when it is not needed: 4 MB.
    private static let logLimit = 4_194_304

    func queue() throws(HistoryError) -> DatabaseQueue {
        do {
            if role == .recorder, try !isThere() {
                // A mended one that was ready when the process ended, just before it took its place.
                try? FileStore().rename(directory + "/mending/history.sqlite", to: path)
            }
            return try opened()
        } catch let error as DatabaseError where error.isDamage && role == .recorder {
            try keepAside(error)
        } catch {
            throw HistoryError(any: error, path)
        }
        do {
            return try opened()
        } catch {
            throw HistoryError(any: error, path)
        }
    }

    private func opened() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        configuration.readonly = role == .reader
        configuration.label = "history"
        if role != .reader {
            configuration.prepareDatabase { database in
                // Only a new database takes the size of its pages, and only before its journal.
                try database.execute(sql: "PRAGMA page_size = \(Schema.pageSize)")
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA journal_size_limit = \(Self.logLimit)")
            }
        } else if try !isThere() {
            throw HistoryError(.absent, directory)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let migrator = Schema.migrator
        if try queue.read(migrator.hasBeenSuperseded) { throw HistoryError(.newer, path) }
        if role != .reader {
            try migrator.migrate(queue)
        } else if try !queue.read(migrator.hasCompletedMigrations) {
            // A recorder may be making it at this moment: then there is nothing yet.
            let isEmpty = try queue.read { try migrator.appliedIdentifiers($0).isEmpty }
            throw HistoryError(isEmpty ? .absent : .outdated, isEmpty ? directory : path)
        }
        return queue
    }

    private func isThere() throws(FileError) -> Bool {
        do throws(FileError) {
            return try FileStore().readIfPresent(path, limit: 0) != nil
        } catch {
            guard case .tooLarge = error.reason else { throw error }
            return true
        }
    }

    private var directory: String { String(path.dropLast("/history.sqlite".count)) }

    /// Renames a database, with the files that belong to it: beside another one they would be damage.
    static func setAside(_ path: String) throws(FileError) {
        let files = FileStore()
        try files.rename(path, to: path + ".damaged")
        for suffix in ["-wal", "-shm"] { try? files.rename(path + suffix, to: path + ".damaged" + suffix) }
    }

    /// What cannot be read at all is no reason not to record from now on.
    private func keepAside(_ error: DatabaseError) throws(HistoryError) {
        do throws(FileError) {
            try Self.setAside(path)
        } catch {
            throw HistoryError(error, path)
        }
        complain(
            """
            the history \(path) is damaged: \(error.message ?? "it is no database"); a new one begins now
            hint: the old one is kept as \(path).damaged; what is readable in it may be copied out
            """)
    }
}
