import Glibc

/// The kernel's calls that the file operations are made of. ``LinuxFileCalls`` is the kernel; tests put a disk in its place
/// that is full, failing, or loses its power at a given byte.
public protocol FileCalls: Sendable {
    /// Opens and returns a descriptor.
    func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32
    func close(_ descriptor: Int32)
    /// Returns how many bytes were read; 0 at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    /// Returns how many bytes were written, which may be fewer than given.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int
    func length(_ descriptor: Int32) throws(SystemError) -> Int
    func access(_ descriptor: Int32) throws(SystemError) -> FileAccess
    /// Sets the permissions, whatever the process's mask says.
    func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError)
    func truncate(_ descriptor: Int32, to length: Int) throws(SystemError)
    /// Returns when data and length have reached the storage.
    func synchronize(_ descriptor: Int32) throws(SystemError)
    func rename(_ path: String, to newPath: String) throws(SystemError)
    /// Gives a file a second name; throws `alreadyExists` when the name is taken.
    func link(_ path: String, to newPath: String) throws(SystemError)
    func remove(_ path: String) throws(SystemError)
    func makeDirectory(_ path: String, mode: UInt32) throws(SystemError)
    func isDirectory(_ path: String) -> Bool
    /// The names in a directory, in order.
    func names(in directory: String) throws(SystemError) -> [String]
    /// Takes the exclusive lock of an open file or directory without waiting; throws `wouldBlock` when another process has it.
    func lock(_ descriptor: Int32) throws(SystemError)
    /// Gives the lock back, also where a process that was forked meanwhile has the descriptor too.
    func unlock(_ descriptor: Int32)
}

/// What a file is opened for. None of it waits for the other end of a pipe.
public enum OpenPurpose: Sendable, Hashable {
    case reading
    /// Reading what nobody else may know: a link is an error.
    case readingSecret
    /// A new file; it is an error if the name is taken.
    case creating(mode: UInt32)
    /// Writing at the end, creating the file if it is missing.
    case appending(mode: UInt32)
    /// Reading and writing the lock file, creating it if it is missing.
    case locking
    case directory
}

/// A file that is no regular one, and no directory, which the kernel refuses to read itself.
public enum IrregularFile: Sendable, Hashable {
    case pipe, socket, device

    /// - Parameter mode: `st_mode`. Nil for a regular file and a directory.
    init?(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: return nil
        }
    }
}

/// What an open file is and whose.
public struct FileAccess: Sendable, Hashable {
    /// Kind and permissions: `st_mode`.
    public var mode: UInt32
    /// The user's number.
    public var owner: UInt32

    public init(mode: UInt32, owner: UInt32) {
        self.mode = mode
        self.owner = owner
    }
}
