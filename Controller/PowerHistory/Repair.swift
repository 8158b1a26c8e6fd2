import DurableFiles
import Foundation
import GRDB

extension PowerHistory {
    /// Copies what is readable of a history into a new one in another directory. The damaged one stays as it is.
    ///
    /// - Parameters:
    ///   - file: the database, `history.sqlite` of a history's directory, or one that was kept aside.
    ///   - directory: where there is none yet.
    ///   - progress: takes how many of how many rows were looked at.
    @discardableResult
    public static func repair(
        _ file: String, into directory: String, progress: (_ done: Int64, _ of: Int64) -> Void = { _, _ in }
    ) throws(HistoryError) -> SalvageReport {
        for path in [file, directory] {
            do throws(FileError) { try FileStore().requireAnswer(of: path) } catch { throw HistoryError(error, path) }
        }
        guard Opening.isThere(file) else { throw HistoryError(.absent, file) }
        let place = directory + "/repairing"
        do {
            try HistoryFiles.check(file)
            let names = HistoryFiles.suffixes.map { directory + "/history.sqlite" + $0 }
            guard !names.contains(where: Opening.isThere) else { throw HistoryError(.occupied, directory) }
            let isNew = !Opening.isThere(directory)
            try FileStore().makeDirectories(directory)
            let lock = try DirectoryLock(directory)
            defer { withExtendedLifetime(lock) {} }
            // Nothing stays that blocks the next attempt, also if a previous one was killed.
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
        // Closed, it is one file.
        try copy.queue.close()
        return report
    }

    private static func salvaged(
        _ file: String, into copy: PowerHistory, _ progress: (_ done: Int64, _ of: Int64) -> Void
    ) throws -> SalvageReport {
        // SQLite itself knows best what belongs to a file that is still written; it refuses one whose header or length is wrong.
        // It opens the file for reading only.
        if try DamagedPages.hasSoundHeader(file) {
            do throws(HistoryError) {
                let queue = try Opening(path: file, role: .reader) { _ in }.queue()
                var salvage = Salvage(damaged: queue, path: file, copy: copy)
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
        var salvage = Salvage(damaged: damaged, path: file, copy: copy)
        let report = try salvage.run(progress: progress)
        try? damaged.close()
        try pages.removeCopy()
        if try copy.plugs().isEmpty, try copy.firings(from: 0, to: .max).isEmpty {
            throw HistoryError(.nothingReadable, file)
        }
        return report
    }

    /// Puts what is readable of a damaged database in its place, and keeps the damaged one aside.
    func mended(_ damaged: DatabaseQueue) throws(HistoryError) -> DatabaseQueue {
        let files = FileStore()
        let place = directory + "/mending"
        do throws(FileError) {
            // What an attempt before left behind, which nobody has read from.
            for name in ["history.sqlite", "history.sqlite-wal", "history.sqlite-shm"] {
                try files.removeIfPresent(place + "/" + name)
            }
        } catch {
            throw HistoryError(error, place)
        }
        let copy = try PowerHistory(place, role: .recorder, retention: .forever)
        var salvage = Salvage(damaged: damaged, path: path, copy: copy)
        let report = try salvage.run { _, _ in }
        let name: String
        do {
            // Closed, it is one file.
            try copy.queue.close()
            try? damaged.close()
            name = try Opening.setAside(path)
            try files.rename(place + "/history.sqlite", to: path)
        } catch {
            throw HistoryError(any: error, path)
        }
        complain(
            """
            the history \(path) was damaged and could not be written; what is readable is in a new one, \
            \(report.chunks) chunks of samples are lost\(report.tables.map { "; \($0)" }.joined())
            hint: the storage may be failing: see the kernel's log (dmesg); the old one is kept as \(name)
            """)
        return try Opening(path: path, role: .recorder, complain: complain).queue()
    }
}
