import Glibc

/// The system calls that the file operations use. ``LinuxFileCalls`` makes real calls; tests use a simulated disk that
/// is full, fails, or loses power at a given byte.
public protocol FileCalls: Sendable {
    /// Opens a file or directory and returns a descriptor.
    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32
    /// Closes a descriptor.
    func close(_ descriptor: Int32)
    /// Returns the number of bytes read; 0 at the end of the file.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    /// Returns the number of bytes written, which may be fewer than given.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
    /// Returns the length of the file in bytes.
    func length(_ descriptor: Int32) throws(SystemError) -> Int
    /// Returns the kind, the permissions and the owner of an open file.
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess
    /// Sets the permissions exactly, without the process's file mode creation mask.
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError)
    /// Sets the length of the file in bytes.
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError)
    /// Returns when data and length have reached the storage.
    func synchronize(_ descriptor: Int32) throws(SystemError)
    /// Renames a file, replacing a file of the new name.
    func rename(_ path: String, to newPath: String) throws(SystemError)
    /// Creates a hard link; throws `alreadyExists` if the name is taken.
    func link(_ path: String, to newPath: String) throws(SystemError)
    /// Removes a file.
    func remove(_ path: String) throws(SystemError)
    /// Creates a directory. The mode is subject to the process's file mode creation mask.
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError)
    /// Returns true if the path leads to a directory.
    func isDirectory(_ path: String) -> Bool
    /// Returns the names in a directory, sorted.
    func names(in directory: String) throws(SystemError) -> [String]
    /// Locks an open file or directory exclusively, without waiting; throws `wouldBlock` if another process, or another
    /// opening in this process, has the lock.
    func lock(_ descriptor: Int32) throws(SystemError)
    /// Releases the lock, even if a forked process has the descriptor too.
    func unlock(_ descriptor: Int32)
}

/// The purpose of an open file. Opening never waits for the other end of a pipe.
public enum OpenPurpose: Sendable, Hashable {
    /// Reading a file.
    case reading
    /// Reading a secret: a link is an error.
    case readingSecret
    /// Writing a new file; an existing name is an error.
    case creating(mode: UInt32)
    /// Appending to the file, which is created if it is missing.
    case appending(mode: UInt32)
    /// Reading and writing the lock file, which is created if it is missing.
    case locking
    /// Synchronizing or locking a directory.
    case directory
}

/// The kinds of files that are refused: all except regular files and directories. The kernel itself refuses to read
/// directories.
public enum IrregularFile: Sendable, Hashable {
    case pipe, socket, device

    /// Creates the kind from a file's `st_mode`. Returns nil for a regular file, a directory or a link.
    init?(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: return nil
        }
    }
}

/// The kind, the permissions and the owner of a file.
public struct FileAccess: Sendable, Hashable {
    /// The kind and the permissions: `st_mode`.
    public var mode: UInt32
    /// The user id of the owner.
    public var owner: UInt32

    /// Creates a value from `st_mode` and `st_uid`.
    public init(mode: UInt32, owner: UInt32) {
        self.mode = mode
        self.owner = owner
    }
}
