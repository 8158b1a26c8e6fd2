public import LinuxSystem

/// An error of reading or writing the history. If ``PowerHistory/record(_:)`` throws it, the batch is stored completely
/// or not at all, and the caller may retry.
public struct HistoryError: Error, Hashable, Sendable {
    /// The cause of the error.
    public enum Reason: Hashable, Sendable {
        /// The directory contains no history.
        case absent
        /// Another process is recording into this directory. The process id is nil if it could not be read.
        case recorded(by: Int32?)
        /// A later version of this program created the database.
        case newer
        /// An earlier version created the database, and a reader cannot migrate it.
        case outdated
        /// The file system is full.
        case full
        /// Another process locked the database for longer than five seconds.
        case locked
        /// The requested data or the database is damaged.
        case damaged
        /// The directory is not writable, and only a process that can write there can read the log next to the
        /// database.
        case unreadableLog
        /// A repair found no readable data in the file.
        case nothingReadable
        /// The target directory of a repair already contains a history.
        case occupied
        /// No plug has this name. `suggestions` are similar names.
        case unknownPlug(String, suggestions: [String])
        /// Several plugs match this name when case is ignored. `plugs` are their ids.
        case ambiguous(String, plugs: [String])
        /// A file or the directory cannot be created, read or written.
        case file(FileError)
        /// Any other error of SQLite, with its extended result code.
        case database(code: Int32, message: String)
    }

    /// The cause.
    public var reason: Reason
    /// The path of the database or of its directory.
    public var path: String

    /// Creates an error.
    public init(_ reason: Reason, _ path: String) {
        self.reason = reason
        self.path = path
    }

    /// Advice for the user, or nil.
    public var hint: String? {
        switch reason {
        case .absent:
            "plugctl daemon records one, and plugctl history import creates one; if the daemon uses --history DIRECTORY, use the same option here"
        case .recorded(let holder?): "stop process \(holder), or choose another directory"
        case .recorded(nil): "stop the process that uses it, or choose another directory"
        case .newer: "use the newer version of this program"
        case .outdated: "start the daemon once to update the history"
        case .full: "free some space on that file system"
        case .locked: "close the other program that uses the database"
        case .damaged: "copy the readable data with plugctl history repair, or move the file away"
        case .unreadableLog:
            "run as the user of the daemon, or copy history.sqlite and history.sqlite-wal to your own directory"
        case .nothingReadable: "restore the file from a backup"
        case .occupied: "choose a new directory"
        case .unknownPlug(_, let suggestions):
            suggestions.isEmpty
                ? "`plugctl history` lists the recorded plugs"
                : "did you mean \(suggestions.map { "\"\($0)\"" }.joined(separator: " or "))?"
        case .ambiguous(_, let plugs): "use an id: \(plugs.joined(separator: ", "))"
        case .file(let error): error.hint
        case .database(let code, _): hint(forCode: code)
        }
    }
}

extension HistoryError {
    /// The hint for an SQLite result code. Its lower eight bits are the primary code.
    private func hint(forCode code: Int32) -> String? {
        switch code & 0xFF {
        // SQLITE_PERM, SQLITE_READONLY, SQLITE_CANTOPEN.
        case 3, 8, 14: "check the owner and the permissions, or run as the user of the daemon"
        // SQLITE_IOERR.
        case 10: "the storage may be failing or full: see the kernel's log (dmesg)"
        case _: nil
        }
    }
}

extension HistoryError: CustomStringConvertible {
    /// The message in one sentence, without the hint.
    public var description: String {
        switch reason {
        case .absent: "no history was found in \(path)"
        case .recorded(let holder?): "the history in \(path) is being recorded by process \(holder)"
        case .recorded(nil): "the history in \(path) is being recorded by another process"
        case .newer: "the history \(path) was created by a newer version of this program"
        case .outdated: "the history \(path) was created by an older version of this program"
        case .full: "no space is left to write the history \(path)"
        case .locked: "the history \(path) is locked by another program"
        case .damaged: "the history \(path) is damaged"
        case .unreadableLog: "the history \(path) has a log, but its directory is not writable"
        case .nothingReadable: "no data in the history \(path) is readable"
        case .occupied: "\(path) already contains a history"
        case .unknownPlug(let name, _): "the history has no plug named \"\(name)\""
        case .ambiguous(let name, _): "\"\(name)\" matches several plugs in the history"
        case .file(let error): error.description
        case .database(let code, let message): "the history \(path) failed: \(message) (SQLite \(code))"
        }
    }
}
