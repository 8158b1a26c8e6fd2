import Glibc

/// The right to be the only process that works in a directory. It lasts as long as the value or the process, whichever ends
/// first; a killed process leaves nothing behind that would have to be cleaned up.
///
/// The directory itself is locked, so that it works on a storage that cannot be written. Where it can, a file named `lock`
/// tells the owner's process number to whoever comes second. It stays when the lock is given back.
public final class DirectoryLock: Sendable {
    public let directory: String
    private let calls: any FileCalls
    private let descriptor: Int32

    /// - Throws: ``FileError`` with ``FileError/Reason/held(by:)`` and the path of the directory when another process, or
    ///   another value of this one, has the lock.
    public init(_ directory: String, store: FileStore = FileStore()) throws(FileError) {
        let descriptor = try store.open(directory, .directory)
        do throws(FileError) {
            try Self.take(descriptor, directory, store)
        } catch {
            store.calls.close(descriptor)
            throw error
        }
        self.directory = directory
        self.calls = store.calls
        self.descriptor = descriptor
        // The number helps a person; the lock holds without it.
        try? Self.sign(directory, store)
    }

    deinit {
        calls.unlock(descriptor)
        calls.close(descriptor)
    }

    private static func take(_ descriptor: Int32, _ directory: String, _ store: FileStore) throws(FileError) {
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

    /// The number that the holder wrote, or nil where it could not, or has not yet.
    private static func holder(_ directory: String, _ store: FileStore) -> Int32? {
        guard let bytes = try? store.read(directory + "/lock", limit: 64) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).prefix { $0.isNumber })
    }
}
