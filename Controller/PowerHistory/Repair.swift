import DurableFiles
import GRDB

extension PowerHistory {
    /// Copies what is readable into a new history in another directory.
    ///
    /// - Parameters:
    ///   - directory: where there is none yet.
    ///   - progress: takes how many of how many rows were looked at.
    /// - Returns: how many chunks of samples were lost.
    @discardableResult
    public func repair(
        into directory: String, progress: (_ done: Int64, _ of: Int64) -> Void = { _, _ in }
    ) throws(HistoryError) -> Int {
        let copy = try PowerHistory(directory, role: .recorder, retention: .forever)
        guard try copy.plugs().isEmpty else {
            throw HistoryError(.database(code: 0, message: "there is a history in it already"), directory)
        }
        return try Salvage(damaged: queue, path: path, copy: copy).run(progress: progress)
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
        let lost = try Salvage(damaged: damaged, path: path, copy: copy).run { _, _ in }
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
            \(lost) chunks of samples are lost
            hint: the storage may be failing: see the kernel's log (dmesg); the old one is kept as \(name)
            """)
        return try Opening(path: path, role: .recorder, complain: complain).queue()
    }
}
