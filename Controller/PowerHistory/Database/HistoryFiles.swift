import Foundation
import LinuxSystem

/// The database's file and the files that SQLite makes next to it.
enum HistoryFiles {
    static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Rejects files of other kinds: opening a pipe could wait forever, and reading a device may have effects.
    ///
    /// - Throws: `FileError` if one of the files exists and is a pipe, a socket, a device or a directory.
    static func check(_ path: String) throws(FileError) {
        for suffix in suffixes { try checkKind(path + suffix) }
    }

    static func checkKind(_ path: String) throws(FileError) {
        // A link to a regular file is allowed.
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let kind = (try? FileManager.default.attributesOfItem(atPath: target))?[.type] as? FileAttributeType
        else { return }
        switch kind {
        case .typeRegular, .typeSymbolicLink: return
        case .typeSocket: throw FileError(.open, path, .notRegular(.socket))
        case .typeCharacterSpecial, .typeBlockSpecial: throw FileError(.open, path, .notRegular(.device))
        case .typeDirectory: throw FileError(.open, path, .system(.isDirectory))
        case _: throw FileError(.open, path, .notRegular(.pipe))
        }
    }

    /// Returns nil if the file does not exist.
    static func length(_ path: String) -> UInt64? {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        return ((try? FileManager.default.attributesOfItem(atPath: target))?[.size] as? NSNumber)?.uint64Value
    }

    /// The length of a log without any page.
    private static let emptyLog: UInt64 = 32

    static func hasLog(_ path: String) -> Bool { (length(path + "-wal") ?? 0) > emptyLog }

    /// True if the database is empty while its log still has pages: SQLite would delete the log.
    static func hasLostAllButLog(_ path: String) -> Bool { length(path) == 0 && hasLog(path) }
}
