import Glibc

/// The exclusive right of one process to work in a directory. It ends with this value or with the process. A killed
/// process leaves nothing that needs to be cleaned up.
///
/// The lock is on the directory itself, so it also works on read-only storage. On writable storage, the file `lock` has
/// the process id of the lock's holder, for the error message of a second process. The file remains after the lock is
/// released.
public final class DirectoryLock: Sendable {
    /// The path of the directory.
    public let directory: String
    private let calls: any FileCalls
    private let descriptor: Int32

    /// Locks a directory without waiting.
    ///
    /// - Throws: ``FileError`` with ``FileError/Reason/held(by:)`` and the path of the directory if another process, or
    ///   another value in this process, has the lock.
    public init(_ directory: String, store: FileStore = FileStore()) throws(FileError) {
        let descriptor = try store.open(directory, .directory)
        do throws(FileError) {
            try Self.acquire(descriptor, directory, store)
        } catch {
            store.calls.close(descriptor)
            throw error
        }
        self.directory = directory
        self.calls = store.calls
        self.descriptor = descriptor
        // The process id is only information; the lock is valid without it.
        try? Self.sign(directory, store)
    }

    deinit {
        calls.unlock(descriptor)
        calls.close(descriptor)
    }

    /// Returns true if the process that locked the directory last is alive. That process may have released the lock
    /// since.
    ///
    /// The function does not acquire the lock, not even for a moment, because a process that starts at that moment
    /// would fail to acquire it.
    public static func hasLivingHolder(_ directory: String, store: FileStore = FileStore()) -> Bool {
        guard let process = holder(directory, store), process > 0 else { return false }
        return kill(process, 0) == 0 || errno == EPERM
    }

    private static func acquire(_ descriptor: Int32, _ directory: String, _ store: FileStore) throws(FileError) {
        do throws(FileError) {
            try store.attempt(.lock, directory) { () throws(SystemError) in try store.calls.lock(descriptor) }
        } catch {
            guard error.reason == .system(.wouldBlock) else { throw error }
            throw FileError(.lock, directory, .held(by: holder(directory, store)))
        }
    }

    private static func sign(_ directory: String, _ store: FileStore) throws(FileError) {
        let path = directory + "/lock"
        let descriptor = try store.open(path, .locking)
        defer { store.calls.close(descriptor) }
        try store.attempt(.write, path) { () throws(SystemError) in try store.calls.truncate(descriptor, to: 0) }
        try store.writeAll(Array("\(getpid())\n".utf8), to: descriptor, path: path)
    }

    /// Returns the holder's process id; nil if the file `lock` is missing or does not contain it.
    private static func holder(_ directory: String, _ store: FileStore) -> Int32? {
        guard let bytes = try? store.read(directory + "/lock", limit: 64) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}
