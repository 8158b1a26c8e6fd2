import Foundation
import GRDB
import LinuxSystem

/// Opens the database. A recorder or writer also creates and migrates it.
struct DatabaseOpener {
    let path: String
    let role: PowerHistory.Role
    let complain: (String) -> Void

    /// The longest time to wait for another process's lock, in seconds.
    private static let patience = 5.0
    /// The size to which the log next to the database is truncated when it is not needed: 4 MB.
    private static let logLimit = 4_194_304

    func queue() throws(HistoryError) -> DatabaseQueue {
        do {
            if role == .recorder, !Self.isThere(path) { try takeMended() }
            try HistoryFiles.check(path)
            guard !HistoryFiles.hasLostAllButLog(path) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file is empty, but its log is not")
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
            // SQLite would make the file readable for all users, and it copies the mode of this file to the files next
            // to it.
            try FileStore().makeFileIfAbsent(path, mode: 0o600)
            configuration.prepareDatabase { database in
                // SQLite accepts a page size only for a new database, and only before the journal mode is set.
                try database.execute(sql: "PRAGMA page_size = \(Schema.pageSize)")
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA journal_size_limit = \(Self.logLimit)")
            }
        } else if let error = Self.accessError(path) {
            let isMissing = [ENOENT, ENOTDIR].contains(error.code)
            throw isMissing
                ? HistoryError(.absent, directory) : HistoryError(FileError(.open, path, .system(error)), directory)
        }
        let queue = try DatabaseQueue(path: try source(), configuration: configuration)
        let migrator = Schema.migrator
        if try queue.read(migrator.hasBeenSuperseded) {
            let applied = Set(try queue.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations") })
            // A later version of this program has all migrations of this version too.
            guard applied.isSuperset(of: migrator.migrations) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the list of its versions is damaged")
            }
            throw HistoryError(.newer, path)
        }
        if role != .reader {
            try migrator.migrate(queue)
        } else if try !queue.read(migrator.hasCompletedMigrations) {
            // If no migration is applied, a recorder may be creating the database at this moment. The history is then
            // reported as absent.
            let isEmpty = try queue.read { try migrator.appliedIdentifiers($0).isEmpty }
            throw HistoryError(isEmpty ? .absent : .outdated, isEmpty ? directory : path)
        }
        return queue
    }

    /// Returns the path, or, for a reader without write access to the directory, a URI with which SQLite needs no files
    /// next to the database.
    private func source() throws(HistoryError) -> String {
        // The path may also be that of a database to repair, which may have a different file name.
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard role == .reader, !FileManager.default.isWritableFile(atPath: folder.isEmpty ? "/" : folder) else {
            return path
        }
        guard !Self.isThere(path + "-shm") else { return path }
        // Without the index of the log, only a process that can create the index can read the log.
        guard !HistoryFiles.hasLog(path) else { throw HistoryError(.unreadableLog, path) }
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%"))
        guard FileManager.default.isReadableFile(atPath: path),
            let escaped = path.addingPercentEncoding(withAllowedCharacters: allowed)
        else { return path }
        // No process is writing, because a writer's log would be in the directory.
        return "file:\(escaped)?immutable=1"
    }

    /// Checks whether the file exists, without opening it: closing it again would release SQLite's locks on the file.
    static func isThere(_ path: String) -> Bool { accessError(path) == nil }

    /// Returns why the file cannot be examined; nil if it exists. The file is not opened.
    private static func accessError(_ path: String) -> SystemError? {
        var status = stat()
        return stat(path, &status) == 0 ? nil : SystemError(errno)
    }

    private var directory: String { String(path.dropLast("/history.sqlite".count)) }

    /// Completes a repair that was interrupted between setting the damaged database aside and putting the repaired one
    /// in its place.
    private func takeMended() throws(FileError) {
        let mended = directory + "/mending/history.sqlite"
        guard Self.isThere(mended) else { return }
        // If the process ended between the two renames, the log of the old database is still to be set aside.
        let name = Self.namesAside(path).last { Self.isThere($0) } ?? path + ".damaged"
        try Self.setLogAside(path, to: name)
        try FileStore().rename(mended, to: path)
    }

    /// Renames a database and the log files that belong to it. Next to a new database, these log files would damage
    /// that database.
    ///
    /// - Returns: The new path. If all 99 names for such files are in use, the last file is replaced.
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

    /// Sets an unreadable database aside, so that a new one can be created.
    private func keepAside(_ error: DatabaseError) throws(HistoryError) {
        let name: String
        do throws(FileError) {
            name = try Self.setAside(path)
        } catch {
            throw HistoryError(error, path)
        }
        complain(
            """
            the history \(path) is damaged: \(error.message ?? "it is not a database"); a new history was started
            hint: the old file is kept as \(name); copy its readable data with plugctl history repair
            """)
    }
}
