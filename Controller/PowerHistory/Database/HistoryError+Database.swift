import Foundation
import GRDB
import LinuxSystem

extension HistoryError {
    init(any error: any Error, _ path: String) {
        switch error {
        case let error as HistoryError: self = error
        case let error as DatabaseError: self.init(error, path)
        case let error as FileError: self.init(.file(error), path)
        case let error as CocoaError where error.code == .fileWriteOutOfSpace: self.init(.full, path)
        case let error as CocoaError where error.code == .fileReadNoPermission:
            self.init(.file(FileError(.read, path, .system(.accessDenied))), path)
        case _: self.init(.database(code: 1, message: "\(error)"), path)
        }
    }

    init(_ error: FileError, _ directory: String) {
        if case .held(let holder) = error.reason {
            self.init(.recorded(by: holder), directory)
        } else {
            self.init(.file(error), directory)
        }
    }

    init(_ error: DatabaseError, _ path: String) {
        let reason: Reason =
            switch error.resultCode.primaryResultCode {
            case .SQLITE_FULL: .full
            // SQLite reports this code if the disk is too full for the index of the log.
            case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: .full
            case .SQLITE_BUSY, .SQLITE_LOCKED: .locked
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .damaged
            case _:
                .database(
                    code: error.extendedResultCode.rawValue, message: error.message ?? "no reason is given")
            }
        self.init(reason, path)
    }
}
