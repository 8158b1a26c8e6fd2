/// A file for appending. After a failure that its ``Durability`` covers, the file contains the bytes of every append
/// that returned, and perhaps a part of an append that did not return. Callers detect such a part by a length and a
/// checksum in each record.
public final class AppendingFile {
    /// The failure that a completed append survives.
    public enum Durability: Sendable {
        /// A power cut: the append waits for the storage.
        case powerCut
        /// The end of the process for any reason, but not a power cut. Used for files in memory.
        case process
    }

    /// The path of the file; ``rename(to:)`` changes it.
    public private(set) var path: String
    /// The length of the file in bytes. All bytes that this object appended have the requested durability.
    public private(set) var length: Int
    private let durability: Durability
    private let store: FileStore
    private let descriptor: Int32
    private var isDamaged = false

    /// Opens the file, creating it if it is missing.
    ///
    /// - Parameters:
    ///   - mode: the permissions of a new file, before the process's file mode creation mask is applied.
    ///   - isSecret: true to refuse a file that other users may read or write, as
    ///     ``FileStore/readSecretIfPresent(_:limit:)`` does.
    /// - Throws: ``FileError``.
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

    /// Appends the bytes and returns when they are durable. After an error the file contains none of the bytes: the
    /// written part is removed, so that a later append does not follow incomplete data. If the removal fails too, every
    /// later append throws ``FileError/Reason/damaged``.
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

    /// Renames the file, replacing a file of that name. Its descriptor stays open.
    public func rename(to newPath: String) throws(FileError) {
        try store.attempt(.rename, newPath) { () throws(SystemError) in try store.calls.rename(path, to: newPath) }
        path = newPath
        if durability == .powerCut { try store.synchronizeDirectory(of: newPath) }
    }

    /// Shortens the file, for example to remove an incomplete record after a power cut.
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
