import Glibc

/// The right to be the only process that works in a directory. It lasts as long as the value or the process, whichever ends
/// first; a killed process leaves nothing behind that would have to be cleaned up.
///
/// The directory gets a file named `lock` that holds the owner's process number. The file stays when the lock is given back:
/// removing it would let two processes lock two files of the same name.
public final class DirectoryLock: Sendable {
    public let directory: String
    private let calls: any FileCalls
    private let descriptor: Int32

    /// - Throws: ``FileError`` with ``FileError/Reason/held(by:)`` and the path of the directory when another process, or
    ///   another value of this one, has the lock.
    public init(_ directory: String, store: FileStore = FileStore()) throws(FileError) {
        let path = directory + "/lock"
        let descriptor = try store.open(path, .locking)
        do throws(FileError) {
            try Self.take(descriptor, directory, store)
            try store.attempt(.write, path) { () throws(SystemError) in try store.calls.truncate(descriptor, to: 0) }
            try store.writeAll(Array("\(getpid())\n".utf8), to: descriptor, path: path)
        } catch {
            store.calls.close(descriptor)
            throw error
        }
        self.directory = directory
        self.calls = store.calls
        self.descriptor = descriptor
    }

    deinit { calls.close(descriptor) }

    private static func take(_ descriptor: Int32, _ directory: String, _ store: FileStore) throws(FileError) {
        do throws(FileError) {
            try store.attempt(.lock, directory) { () throws(SystemError) in try store.calls.lock(descriptor) }
        } catch {
            guard error.reason == .system(.wouldBlock) else { throw error }
            throw FileError(.lock, directory, .held(by: holder(descriptor, store)))
        }
    }

    /// The number that the holder wrote, or nil in the moment between its taking the lock and writing it.
    private static func holder(_ descriptor: Int32, _ store: FileStore) -> Int32? {
        var digits = [UInt8](repeating: 0, count: 16)
        let count = try? digits.withUnsafeMutableBytes { try store.calls.read(descriptor, into: $0) }
        let text = String(decoding: digits[..<(count ?? 0)], as: UTF8.self)
        return Int32(text.prefix { $0.isNumber })
    }
}
