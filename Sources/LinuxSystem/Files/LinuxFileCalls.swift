import Glibc

/// The system calls of the kernel. All descriptors are close-on-exec, so that no child process keeps a lock.
public struct LinuxFileCalls: FileCalls {
    /// Creates the calls; they have no state.
    public init() {}

    public func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
        let descriptor =
            switch purpose {
            case .reading: Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            case .readingSecret: Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            case .creating(let mode): Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
            case .appending(let mode): Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, mode)
            case .locking: Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
            case .directory: Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            }
        return try checked(descriptor)
    }

    public func close(_ descriptor: Int32) {
        // An error of close is ignored: data that must reach the storage has been synchronized before.
        _ = Glibc.close(descriptor)
    }

    public func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try checked(Glibc.read(descriptor, buffer.baseAddress, buffer.count))
    }

    public func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        try checked(Glibc.write(descriptor, bytes.baseAddress, bytes.count))
    }

    public func length(_ descriptor: Int32) throws(SystemError) -> Int {
        var status = stat()
        _ = try checked(fstat(descriptor, &status))
        return Int(status.st_size)
    }

    public func access(_ descriptor: Int32) throws(SystemError) -> FileAccess {
        var status = stat()
        _ = try checked(fstat(descriptor, &status))
        return FileAccess(mode: status.st_mode, owner: status.st_uid)
    }

    public func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) {
        _ = try checked(fchmod(descriptor, mode))
    }

    public func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
        _ = try checked(ftruncate(descriptor, length))
    }

    public func synchronize(_ descriptor: Int32) throws(SystemError) { _ = try checked(fsync(descriptor)) }

    public func rename(_ path: String, to newPath: String) throws(SystemError) {
        _ = try checked(Glibc.rename(path, newPath))
    }

    public func link(_ path: String, to newPath: String) throws(SystemError) {
        _ = try checked(Glibc.link(path, newPath))
    }

    public func remove(_ path: String) throws(SystemError) { _ = try checked(unlink(path)) }

    public func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
        _ = try checked(mkdir(path, mode))
    }

    public func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    public func names(in directory: String) throws(SystemError) -> [String] {
        guard let names = FileStamp.names(in: directory, limit: .max) else { throw SystemError(errno) }
        return names
    }

    public func lock(_ descriptor: Int32) throws(SystemError) { _ = try checked(flock(descriptor, LOCK_EX | LOCK_NB)) }

    public func unlock(_ descriptor: Int32) { _ = flock(descriptor, LOCK_UN) }

    private func checked<Value: SignedInteger>(_ result: Value) throws(SystemError) -> Value {
        guard result >= 0 else { throw SystemError(errno) }
        return result
    }
}
