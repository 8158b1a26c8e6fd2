public import DurableFiles

/// Why the history could not be read or written. Nothing of a batch is stored where ``PowerHistory/record(_:)`` throws one:
/// the caller may try again.
public struct HistoryError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// There is no history in this directory yet.
        case absent
        /// Another process records into this directory; nil where its number could not be read.
        case recorded(by: Int32?)
        /// A later version of this program made it.
        case newer
        /// An earlier version made it, and whoever only reads cannot change that.
        case outdated
        /// No room is left where it lies.
        case full
        /// Another process kept it locked for longer than five seconds.
        case locked
        /// What is asked for cannot be read.
        case damaged
        /// The directory cannot be written, and the log next to the database can only be read by a process that may write.
        case unreadableLog
        /// A repair found nothing in the file.
        case nothingReadable
        /// A repair needs a directory without a history.
        case occupied
        /// No such plug; names that were perhaps meant.
        case unknownPlug(String, suggestions: [String])
        /// Several plugs bear this name, with other capitals.
        case ambiguous(String, plugs: [String])
        /// The directory cannot be made or used.
        case file(FileError)
        /// Anything else that the database says: SQLite's result code.
        case database(code: Int32, message: String)
    }

    public var reason: Reason
    /// The database's file, or its directory.
    public var path: String

    public init(_ reason: Reason, _ path: String) {
        self.reason = reason
        self.path = path
    }

    /// What to try next, where something sensible can be said.
    public var hint: String? {
        switch reason {
        case .absent:
            "plugctl daemon records one; if yours was started with --history DIRECTORY, give the same option here; plugctl history import fills one"
        case .recorded(let holder?): "stop process \(holder), or choose another directory"
        case .recorded(nil): "stop the process that uses it, or choose another directory"
        case .newer: "use the newer version of this program"
        case .outdated: "start the daemon once: it brings the history up to date"
        case .full: "free some space on that file system"
        case .locked: "see which other program has the database open, and close it"
        case .damaged: "copy what is readable with plugctl history repair, or move the file away"
        case .unreadableLog:
            "run as the user who records, or copy history.sqlite and history.sqlite-wal to a directory of yours"
        case .nothingReadable: "restore the file from a backup"
        case .occupied: "name a new directory"
        case .unknownPlug(_, let suggestions):
            suggestions.isEmpty
                ? "plugctl history lists what is recorded"
                : "did you mean \(suggestions.map { "\"\($0)\"" }.joined(separator: " or "))?"
        case .ambiguous(_, let plugs): "name one by its id: \(plugs.joined(separator: ", "))"
        case .file(let error): error.hint
        case .database(let code, _): hint(forCode: code)
        }
    }
}

extension HistoryError {
    /// Of SQLite's result codes; the lower eight bits say what kind it is.
    private func hint(forCode code: Int32) -> String? {
        switch code & 0xFF {
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN.
        case 3, 8, 14: "check the owner and the permissions, or run as the user who records"
        // SQLITE_IOERR.
        case 10: "the storage may be failing or full: see the kernel's log (dmesg)"
        case _: nil
        }
    }
}

extension HistoryError: CustomStringConvertible {
    /// One sentence without the hint.
    public var description: String {
        switch reason {
        case .absent: "there is no history in \(path)"
        case .recorded(let holder?): "the history in \(path) is being recorded by process \(holder)"
        case .recorded(nil): "the history in \(path) is being recorded by another process"
        case .newer: "the history \(path) was made by a later version of this program"
        case .outdated: "the history \(path) was made by an earlier version of this program"
        case .full: "no room is left to write the history \(path)"
        case .locked: "the history \(path) is locked by another program"
        case .damaged: "the history \(path) is damaged"
        case .unreadableLog: "the history \(path) has a log, and its directory cannot be written"
        case .nothingReadable: "nothing of the history \(path) can be read"
        case .occupied: "there is a history in \(path) already"
        case .unknownPlug(let name, _): "no plug named \"\(name)\" is in the history"
        case .ambiguous(let name, _): "\"\(name)\" may be several plugs of the history"
        case .file(let error): error.description
        case .database(let code, let message): "the history \(path) failed: \(message) (SQLite \(code))"
        }
    }
}
