import DurableFiles
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
        do throws(FileError) { try FileStore().requireAnswer(of: file) } catch { throw HistoryError(error, file) }
        guard Opening.isThere(file) else { throw HistoryError(.absent, file) }
        let copy = try PowerHistory(directory, role: .recorder, retention: .forever)
        guard try copy.plugs().isEmpty else {
            throw HistoryError(.database(code: 0, message: "there is a history in it already"), directory)
        }
        // SQLite itself knows best what belongs to a file that is still written; it refuses one whose header or length is wrong.
        if DamagedPages.hasSoundHeader(file) {
            do throws(HistoryError) {
                return try salvaged(file, into: copy, progress)
            } catch {
                switch error.reason {
                case .damaged, .outdated, .absent, .newer: break
                case .recorded, .full, .locked, .unknownPlug, .ambiguous, .file, .database: throw error
                }
            }
        }
        do {
            let pages = try DamagedPages(file, copy: directory + "/damaged.sqlite", whole: copy)
            let damaged = try pages.queue()
            let report = try Salvage(damaged: damaged, path: file, copy: copy).run(progress: progress)
            try damaged.close()
            try pages.removeCopy()
            if try copy.plugs().isEmpty, try copy.firings(from: 0, to: .max).isEmpty {
                throw HistoryError(.database(code: 11, message: "nothing of it can be read"), file)
            }
            return report
        } catch {
            throw HistoryError(any: error, file)
        }
    }

    private static func salvaged(
        _ file: String, into copy: PowerHistory, _ progress: (_ done: Int64, _ of: Int64) -> Void
    ) throws(HistoryError) -> SalvageReport {
        let opening = Opening(path: file, role: .reader) { _ in }
        return try Salvage(damaged: try opening.queue(), path: file, copy: copy).run(progress: progress)
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
        let report = try Salvage(damaged: damaged, path: path, copy: copy).run { _, _ in }
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
            \(report.chunks) chunks of samples are lost
            hint: the storage may be failing: see the kernel's log (dmesg); the old one is kept as \(name)
            """)
        return try Opening(path: path, role: .recorder, complain: complain).queue()
    }
}
