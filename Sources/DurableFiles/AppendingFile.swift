/// A file that only grows. After a power cut it holds every append that had returned, and perhaps a part of the one that
/// had not: records need their own length and checksum.
public final class AppendingFile {
    /// What an append survives once it has returned.
    public enum Durability: Sendable {
        /// A power cut: it waits for the storage.
        case powerCut
        /// The end of the process, however it comes: for files that lie in memory anyway.
        case process
    }

    public private(set) var path: String
    /// Bytes in the file, all of them as durable as was asked for.
    public private(set) var length: Int
    private let durability: Durability
    private let store: FileStore
    private let descriptor: Int32
    private var isDamaged = false

    /// Opens the file, creating it if it is missing.
    ///
    /// - Parameters:
    ///   - mode: permissions of a new file before the process's mask.
    ///   - isSecret: refuses a file that others may read or write, as ``FileStore/readSecretIfPresent(_:limit:)`` does.
    public init(
        _ path: String, mode: UInt32 = 0o600, isSecret: Bool = false, durability: Durability = .powerCut,
        store: FileStore = FileStore()
    ) throws(FileError) {
        let descriptor = try store.open(path, .appending(mode: mode))
        do throws(FileError) {
            if isSecret { try store.requireSecret(descriptor, path, .open) }
            length = try store.attempt(.open, path) { () throws(SystemError) in try store.calls.length(descriptor) }
            if length == 0, durability == .powerCut { try store.synchronizeDirectory(of: path) }
        } catch {
            store.calls.close(descriptor)
            throw error
        }
        self.path = path
        self.store = store
        self.durability = durability
        self.descriptor = descriptor
    }

    deinit { store.calls.close(descriptor) }

    /// Adds the bytes at the end and returns when they are durable. On an error none of them stay in the file: what was
    /// written is cut off again, so that a later append does not stand behind a torn one. If even that fails, every later
    /// append throws ``FileError/Reason/damaged``.
    public func append(_ bytes: [UInt8]) throws(FileError) {
        guard !isDamaged else { throw FileError(.write, path, .damaged) }
        do throws(FileError) {
            try store.writeAll(bytes, to: descriptor, path: path)
            try synchronize()
        } catch {
            cutOff(after: length)
            throw error
        }
        length += bytes.count
    }

    /// Gives the file another name, in the place of the one that has it; what is open stays open.
    public func rename(to newPath: String) throws(FileError) {
        try store.attempt(.rename, newPath) { () throws(SystemError) in try store.calls.rename(path, to: newPath) }
        path = newPath
        if durability == .powerCut { try store.synchronizeDirectory(of: newPath) }
    }

    /// Shortens the file, for example to drop a torn record found after a power cut.
    public func truncate(to newLength: Int) throws(FileError) {
        precondition(newLength <= length, "truncating never grows a file")
        try store.attempt(.write, path) { () throws(SystemError) in
            try store.calls.truncate(descriptor, to: newLength)
        }
        length = newLength
        try synchronize()
    }

    private func synchronize() throws(FileError) {
        guard durability == .powerCut else { return }
        try store.attempt(.synchronize, path) { () throws(SystemError) in try store.calls.synchronize(descriptor) }
    }

    private func cutOff(after kept: Int) {
        do throws(SystemError) {
            try store.calls.truncate(descriptor, to: kept)
        } catch {
            isDamaged = true
        }
    }
}
