import DurableFiles
import Foundation
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
            if role == .recorder, !Self.isThere(path) { try takeMended() }
            try HistoryFiles.check(path)
            guard !HistoryFiles.hasLostAllButLog(path) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file is empty, but not its log")
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
            // SQLite would let everybody read it, and takes what it is allowed for the files beside from it.
            try FileStore().makeFileIfAbsent(path, mode: 0o600)
            configuration.prepareDatabase { database in
                // Only a new database takes the size of its pages, and only before its journal.
                try database.execute(sql: "PRAGMA page_size = \(Schema.pageSize)")
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA journal_size_limit = \(Self.logLimit)")
            }
        } else if !Self.isThere(path) {
            throw HistoryError(.absent, directory)
        }
        let queue = try DatabaseQueue(path: try source(), configuration: configuration)
        let migrator = Schema.migrator
        if try queue.read(migrator.hasBeenSuperseded) {
            let applied = Set(try queue.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations") })
            // A later version has all steps of this one too.
            guard applied.isSuperset(of: migrator.migrations) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of its versions is damaged")
            }
            throw HistoryError(.newer, path)
        }
        if role != .reader {
            try migrator.migrate(queue)
        } else if try !queue.read(migrator.hasCompletedMigrations) {
            // A recorder may be making it at this moment: then there is nothing yet.
            let isEmpty = try queue.read { try migrator.appliedIdentifiers($0).isEmpty }
            throw HistoryError(isEmpty ? .absent : .outdated, isEmpty ? directory : path)
        }
        return queue
    }

    /// The path; for a reader that may not write into the directory, a URI by which SQLite needs no files next to the database.
    private func source() throws(HistoryError) -> String {
        // Also of a file that a repair reads, which may have a different name.
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard role == .reader, !FileManager.default.isWritableFile(atPath: folder.isEmpty ? "/" : folder) else {
            return path
        }
        guard !Self.isThere(path + "-shm") else { return path }
        // Without the index of the log only the owner can read it.
        guard !HistoryFiles.hasLog(path) else { throw HistoryError(.unreadableLog, path) }
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
        guard FileManager.default.isReadableFile(atPath: path),
            let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed)
        else { return path }
        // Nobody writes: a process that did would have its log there.
        return "file:\(escaped)?immutable=1"
    }

    /// Without opening it: to close a file once more would give up the locks that SQLite has on it.
    static func isThere(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }

    private var directory: String { String(path.dropLast("/history.sqlite".count)) }

    /// A mended one that was ready when the process ended, just before it took its place.
    private func takeMended() throws(FileError) {
        let mended = directory + "/mending/history.sqlite"
        guard Self.isThere(mended) else { return }
        // The old one's log, where the process ended before it was set aside too.
        let name = Self.namesAside(path).last { Self.isThere($0) } ?? path + ".damaged"
        try Self.setLogAside(path, to: name)
        try FileStore().rename(mended, to: path)
    }

    /// Renames a database, with the files that belong to it: beside another one they would be damage.
    /// - Returns: its new name, which none had before unless a hundred of them were never removed.
    static func setAside(_ path: String) throws(FileError) -> String {
        let names = namesAside(path)
        let name = names.first { !isThere($0) } ?? names[names.count - 1]
        try FileStore().rename(path, to: name)
        try setLogAside(path, to: name)
        return name
    }

    private static func namesAside(_ path: String) -> [String] {
        [path + ".damaged"] + (2...99).map { "\(path).damaged\($0)" }
    }

    private static func setLogAside(_ path: String, to name: String) throws(FileError) {
        for suffix in ["-wal", "-shm"] where isThere(path + suffix) {
            try FileStore().rename(path + suffix, to: name + suffix)
        }
    }

    /// What cannot be read at all is no reason not to record from now on.
    private func keepAside(_ error: DatabaseError) throws(HistoryError) {
        let name: String
        do throws(FileError) {
            name = try Self.setAside(path)
        } catch {
            throw HistoryError(error, path)
        }
        complain(
            """
            the history \(path) is damaged: \(error.message ?? "it is no database"); a new one begins now
            hint: the old one is kept as \(name); what is readable in it may be copied out
            """)
    }
}
