import Glibc

/// An error of a file operation: the operation, the path, the reason and a hint.
public struct FileError: Error, Sendable, Hashable {
    /// The operation that failed.
    public enum Operation: String, Sendable {
        case open, read, write, synchronize, rename, remove, lock
        case makeDirectory = "make the directory"
    }

    /// The reason why an operation failed.
    public enum Reason: Sendable, Hashable {
        /// A system call failed.
        case system(SystemError)
        /// The file exceeds the caller's limit in bytes.
        case tooLarge(limit: Int)
        /// The file is a pipe, a socket or a device instead of a regular file.
        case notRegular(IrregularFile)
        /// The line with this number, counted from 1, is not UTF-8.
        case noText(line: Int)
        /// The file system did not answer in time.
        case late
        /// No program opened the pipe for reading in time.
        case noReader
        /// The process with this id has locked the directory. Nil if the id could not be read.
        case held(by: Int32?)
        /// An earlier append failed, and its incomplete data could not be removed.
        case damaged
        /// The group or others have access to the secret, which has these permissions (the lower nine bits of its
        /// mode).
        case exposed(permissions: UInt32)
        /// The secret belongs to a different user. The value is the id of that user.
        case foreign(owner: UInt32)
        /// The secret is a link, a pipe or another entry that is not a regular file. The creator of such an entry could
        /// decide which bytes are read.
        case noPlainFile
        /// The file of the secret has no bytes.
        case empty
    }

    /// The operation that failed.
    public let operation: Operation
    /// The path of the file or directory.
    public let path: String
    /// The reason why the operation failed.
    public let reason: Reason

    /// Creates an error.
    public init(_ operation: Operation, _ path: String, _ reason: Reason) {
        self.operation = operation
        self.path = path
        self.reason = reason
    }

    init(_ operation: Operation, _ path: String, _ error: SystemError) {
        self.init(operation, path, .system(error))
    }

    /// A hint about what the user can do; nil if there is nothing useful to suggest.
    public var hint: String? {
        if path == UserDirectories.missingHome || path.hasPrefix(UserDirectories.missingHome + "/") {
            return
                "user \(geteuid()) has no home directory: set HOME, or set the daemon's state directory with --state"
        }
        return switch reason {
        case .system(let error): hint(for: error)
        case .notRegular: "use a regular file"
        case .noText: "save it as UTF-8"
        case .late: "check whether its file system responds: ls -l \(path)"
        case .noReader: "start the program that reads from it first"
        case .tooLarge: "check that this is the right file"
        case .held(let holder?): "stop process \(holder), or choose another directory"
        case .held(nil): "stop the process that uses it, or choose another directory"
        case .damaged: "remove the file or repair the storage, then restart"
        case .exposed:
            "assume that other users know it: move the file away and restart to create a new one, "
                + "or, if you are sure that no other user read it: chmod 600 \(path)"
        case .foreign: "run as its owner, or move the file away and restart to create a new one"
        case .noPlainFile: "replace it with a regular file that contains the secret"
        case .empty: "restore the file from a backup, or move it away and restart to create a new one"
        }
    }

    private func hint(for error: SystemError) -> String? {
        switch error.code {
        case ENOSPC, EDQUOT: "free some space on that file system"
        case EACCES, EPERM: "check the owner and the permissions, or run as its owner"
        case EROFS: "mount the file system for writing, or choose a different directory"
        case ENOENT: operation == .makeDirectory ? nil : "check the spelling of the path"
        case EISDIR: "use a file, not a directory"
        case ENOTDIR, EEXIST: "a file exists where a directory is needed; move it away or choose a different path"
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
        case .late: "cannot \(operation.rawValue) \(path): its file system does not respond"
        case .noReader: "cannot \(operation.rawValue) \(path): no program reads from this pipe"
        case .held(let holder?): "\(path) is in use by process \(holder)"
        case .held(nil): "\(path) is in use by another process"
        case .damaged: "cannot \(operation.rawValue) \(path): a failed write damaged its end"
        case .exposed(let permissions):
            """
            refusing to \(operation.rawValue) the secret \(path): other users have access to it \
            (mode 0\(String(permissions, radix: 8)))
            """
        case .foreign(let owner):
            "refusing to \(operation.rawValue) the secret \(path): it belongs to another user (number \(owner))"
        case .noPlainFile: "refusing to \(operation.rawValue) the secret \(path): it is a link or not a regular file"
        case .empty: "cannot read the secret \(path): the file is empty"
        }
    }
}
