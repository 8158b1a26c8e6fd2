import Glibc

/// A failed file operation: what was tried on which path, why it failed and what to try next.
public struct FileError: Error, Sendable, Hashable {
    public enum Operation: String, Sendable {
        case open, read, write, synchronize, rename, remove, lock
        case makeDirectory = "make the directory"
    }

    public enum Reason: Sendable, Hashable {
        case system(SystemError)
        /// The file holds more bytes than the caller is ready to keep in memory.
        case tooLarge(limit: Int)
        /// A pipe, a socket or a device where a file is needed.
        case notRegular(IrregularFile)
        /// This line of it, from 1, is not UTF-8.
        case noText(line: Int)
        /// The file system did not answer in time.
        case late
        /// No program opened the pipe for reading in time.
        case noReader
        /// Another process holds the directory; nil when its number could not be read.
        case held(by: Int32?)
        /// An append failed before and what it left behind could not be cut off again.
        case damaged
        /// A secret that group or others may read, write or run: these permissions, the lower nine bits of its mode.
        case exposed(permissions: UInt32)
        /// A secret of another user, by number.
        case foreign(owner: UInt32)
        /// A secret that is a link, a pipe or a device: whoever can make such a one decides what is read.
        case noPlainFile
        /// A secret without a single byte.
        case empty
    }

    public let operation: Operation
    public let path: String
    public let reason: Reason

    public init(_ operation: Operation, _ path: String, _ reason: Reason) {
        self.operation = operation
        self.path = path
        self.reason = reason
    }

    init(_ operation: Operation, _ path: String, _ error: SystemError) {
        self.init(operation, path, .system(error))
    }

    /// What to try next, where something sensible can be said.
    public var hint: String? {
        if path == UserDirectories.missingHome || path.hasPrefix(UserDirectories.missingHome + "/") {
            return
                "user \(geteuid()) has no home folder: set HOME, or name the folder of the daemon's state with --state"
        }
        return switch reason {
        case .system(let error): hint(for: error)
        case .notRegular: "name a regular file"
        case .noText: "save it as UTF-8"
        case .late: "see whether its file system answers: ls -l \(path)"
        case .noReader: "start the program that reads it first"
        case .tooLarge: "check that this is the file you meant"
        case .held(let holder?): "stop process \(holder), or choose another directory"
        case .held(nil): "stop the process that uses it, or choose another directory"
        case .damaged: "remove the file or repair the storage, then start again"
        case .exposed:
            "assume that it is known to others: move the file away and start again for a new one, "
                + "or, if you are sure that nobody read it: chmod 600 \(path)"
        case .foreign: "run as the user who owns it, or move the file away and start again for a new one"
        case .noPlainFile: "put the file itself in its place"
        case .empty: "restore the file from a backup, or move it away and start again for a new one"
        }
    }

    private func hint(for error: SystemError) -> String? {
        switch error.code {
        case ENOSPC, EDQUOT: "free some space on that file system"
        case EACCES, EPERM: "check the owner and the permissions, or run as the user who owns it"
        case EROFS: "mount the file system for writing, or choose another directory"
        case ENOENT: operation == .makeDirectory ? nil : "check the spelling of the path"
        case EISDIR: "name a file, not a directory"
        case ENOTDIR, EEXIST: "a file stands where a directory is needed: move it away or choose another path"
        case EIO: "the storage may be failing: see the kernel's log (dmesg)"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        default: nil
        }
    }
}

extension FileError: CustomStringConvertible {
    /// One sentence without the hint, such as "cannot write /var/lib/plugd/relay: No space left on device".
    public var description: String {
        switch reason {
        case .system(let error): "cannot \(operation.rawValue) \(path): \(error)"
        case .tooLarge(let limit): "cannot \(operation.rawValue) \(path): it is larger than \(limit) bytes"
        case .notRegular(let kind): "cannot \(operation.rawValue) \(path): it is a \(kind), not a regular file"
        case .noText(let line): "cannot \(operation.rawValue) \(path): line \(line) is not UTF-8"
        case .late: "cannot \(operation.rawValue) \(path): its file system does not answer"
        case .noReader: "cannot \(operation.rawValue) \(path): no program reads from this pipe"
        case .held(let holder?): "\(path) is in use by process \(holder)"
        case .held(nil): "\(path) is in use by another process"
        case .damaged: "cannot \(operation.rawValue) \(path): an earlier failed write damaged its end"
        case .exposed(let permissions):
            """
            refusing to \(operation.rawValue) the secret \(path): others than its owner may use it \
            (mode 0\(String(permissions, radix: 8)))
            """
        case .foreign(let owner):
            "refusing to \(operation.rawValue) the secret \(path): it belongs to another user (number \(owner))"
        case .noPlainFile: "refusing to \(operation.rawValue) the secret \(path): it is a link or no plain file"
        case .empty: "cannot read the secret \(path): the file is empty"
        }
    }
}
