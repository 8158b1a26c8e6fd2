import Foundation
import GRDB
import LinuxSystem

extension PowerHistory {
    /// Copies the readable data of a history into a new history in a different directory. The damaged file does not
    /// change.
    ///
    /// - Parameters:
    ///   - file: The database: `history.sqlite` in a history's directory, or a database that was set aside.
    ///   - directory: A directory without a history. It is created if it is missing.
    ///   - progress: Receives the number of processed rows and the number of all rows.
    /// - Throws: ``HistoryError``, with the reason ``HistoryError/Reason/occupied`` if the directory contains a
    ///   history, and ``HistoryError/Reason/nothingReadable`` if nothing was found.
    @discardableResult
    public static func repair(
        _ file: String, into directory: String, progress: (_ done: Int64, _ of: Int64) -> Void = { _, _ in }
    ) throws(HistoryError) -> SalvageReport {
        for path in [file, directory] {
            do throws(FileError) { try FileStore().requireAnswer(of: path) } catch { throw HistoryError(error, path) }
        }
        guard DatabaseOpener.isThere(file) else { throw HistoryError(.absent, file) }
        let place = directory + "/repairing"
        do {
            try HistoryFiles.check(file)
            let names = HistoryFiles.suffixes.map { directory + "/history.sqlite" + $0 }
            guard !names.contains(where: DatabaseOpener.isThere) else { throw HistoryError(.occupied, directory) }
            let isNew = !DatabaseOpener.isThere(directory)
            try FileStore().makeDirectories(directory)
            let lock = try DirectoryLock(directory)
            defer { withExtendedLifetime(lock) {} }
            // Remains of an earlier attempt that was killed must not block the next one.
            func clear() { try? FileManager.default.removeItem(atPath: place) }
            clear()
            do {
                let report = try salvaged(file, in: place, progress)
                try FileStore().rename(place + "/history.sqlite", to: directory + "/history.sqlite")
                clear()
                return report
            } catch {
                if isNew { try? FileManager.default.removeItem(atPath: directory) } else { clear() }
                throw error
            }
        } catch let error as FileError {
            throw HistoryError(error, error.path)
        } catch {
            throw HistoryError(any: error, file)
        }
    }

    private static func salvaged(
        _ file: String, in place: String, _ progress: (_ done: Int64, _ of: Int64) -> Void
    ) throws -> SalvageReport {
        let copy = try PowerHistory(place, role: .recorder, retention: .forever)
        let report = try salvaged(file, into: copy, progress)
        // A closed database is a single file.
        try copy.queue.close()
        return report
    }

    private static func salvaged(
        _ file: String, into copy: PowerHistory, _ progress: (_ done: Int64, _ of: Int64) -> Void
    ) throws -> SalvageReport {
        // The file is opened read-only. SQLite handles the log of a file that is still being written, but refuses a
        // file whose header or length is wrong.
        if try DamagedPages.hasSoundHeader(file) {
            do throws(HistoryError) {
                let queue = try DatabaseOpener(path: file, role: .reader) { _ in }.queue()
                var salvage = DatabaseRecovery(damaged: queue, path: file, copy: copy)
                return try salvage.run(progress: progress)
            } catch {
                switch error.reason {
                case .damaged, .outdated, .absent, .unreadableLog, .database: break
                case .recorded, .full, .locked, .unknownPlug, .ambiguous, .file, .newer, .nothingReadable, .occupied:
                    throw error
                }
            }
        }
        let pages = try DamagedPages(file, copy: copy.directory + "/damaged.sqlite", whole: copy)
        let damaged = try pages.queue()
        var salvage = DatabaseRecovery(damaged: damaged, path: file, copy: copy)
        let report = try salvage.run(progress: progress)
        try? damaged.close()
        try pages.removeCopy()
        if try copy.plugs().isEmpty, try copy.firings(from: 0, to: .max).isEmpty {
            throw HistoryError(.nothingReadable, file)
        }
        return report
    }

    /// Replaces a damaged database by a new one with its readable data, and sets the damaged one aside.
    func mended(_ damaged: DatabaseQueue) throws(HistoryError) -> DatabaseQueue {
        let files = FileStore()
        let place = directory + "/mending"
        do throws(FileError) {
            // Removes the remains of an earlier attempt, which no process has read.
            for name in ["history.sqlite", "history.sqlite-wal", "history.sqlite-shm"] {
                try files.removeIfPresent(place + "/" + name)
            }
        } catch {
            throw HistoryError(error, place)
        }
        let copy = try PowerHistory(place, role: .recorder, retention: .forever)
        var salvage = DatabaseRecovery(damaged: damaged, path: path, copy: copy)
        let report = try salvage.run { _, _ in }
        let name: String
        do {
            // A closed database is a single file.
            try copy.queue.close()
            try? damaged.close()
            name = try DatabaseOpener.setAside(path)
            try files.rename(place + "/history.sqlite", to: path)
        } catch {
            throw HistoryError(any: error, path)
        }
        complain(
            """
            the history \(path) was damaged and not writable; its readable data was copied to a new one, and \
            \(report.chunks) chunks of samples are lost\(report.tables.map { "; \($0)" }.joined())
            hint: the storage may be failing; check the kernel's log (dmesg); the old file is kept as \(name)
            """)
        return try DatabaseOpener(path: path, role: .recorder, complain: complain).queue()
    }
}
