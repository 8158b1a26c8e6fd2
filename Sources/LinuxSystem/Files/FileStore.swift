/// File operations: whole-file reads with a limit, and atomic replacements whose results survive a power cut.
///
/// Paths are absolute, or relative to the working directory. Every call blocks until the storage has answered. Only
/// reads of whole files, ``requireAnswer(of:)`` and the opening of a pipe for output stop waiting after a time limit
/// (``FileSystemTimeout``).
public struct FileStore: Sendable {
    let calls: any FileCalls
    let patience: FileSystemTimeout

    /// Creates a store. Tests pass a simulated disk or a shorter time limit.
    public init(calls: any FileCalls = LinuxFileCalls(), patience: FileSystemTimeout = .ofFiles) {
        (self.calls, self.patience) = (calls, patience)
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32 {
        try attempt(.open, path) { () throws(SystemError) in try calls.open(path, purpose) }
    }

    /// Makes the entries of the path's parent directory durable. Without this call, a power cut may lose the name of a
    /// file whose data was stored.
    func synchronizeDirectory(of path: String) throws(FileError) {
        let parent = parentDirectory(of: path)
        let descriptor = try open(parent, .directory)
        defer { calls.close(descriptor) }
        try attempt(.synchronize, parent) { () throws(SystemError) in try calls.synchronize(descriptor) }
    }

    /// Renames a file, replacing a file of the new name, and makes the change durable.
    public func rename(_ path: String, to newPath: String) throws(FileError) {
        try attempt(.rename, newPath) { () throws(SystemError) in try calls.rename(path, to: newPath) }
        try synchronizeDirectory(of: newPath)
    }

    /// Removes a file if it exists.
    public func removeIfPresent(_ path: String) throws(FileError) {
        do throws(FileError) {
            try attempt(.remove, path) { () throws(SystemError) in try calls.remove(path) }
        } catch {
            guard error.reason == .system(.notFound) else { throw error }
        }
    }

    /// Returns the names in a directory, sorted.
    public func names(in directory: String) throws(FileError) -> [String] {
        try attempt(.read, directory) { () throws(SystemError) in try calls.names(in: directory) }
    }

    /// Removes the named files from a directory and ignores missing ones. When the function returns, the removal is
    /// durable.
    public func removeDurably(_ names: [String], from directory: String) throws(FileError) {
        for name in names { try removeIfPresent("\(directory)/\(name)") }
        try synchronizeDirectory(of: "\(directory)/.")
    }

    /// Creates an empty file if the name is free. An existing file is not opened and not changed.
    ///
    /// - Parameter mode: the permissions, before the process's file mode creation mask is applied.
    public func makeFileIfAbsent(_ path: String, mode: UInt32) throws(FileError) {
        do throws(FileError) {
            calls.close(try open(path, .creating(mode: mode)))
        } catch {
            guard error.reason == .system(.alreadyExists) else { throw error }
            return
        }
        try synchronizeDirectory(of: path)
    }

    /// Returns when the path's file system has answered. Callers use it to check a directory that the user named,
    /// before they work in it: a call on a file system that never answers would hang without a message.
    ///
    /// - Throws: ``FileError`` with ``FileError/Reason/late`` if no answer arrives in time (``FileSystemTimeout``).
    public func requireAnswer(of path: String) throws(FileError) {
        let calls = calls
        let answer = patience.within(place: path) { calls.isDirectory(path) }
        guard answer != nil else { throw FileError(.open, path, .late) }
    }

    /// Throws if this process may not create files in a directory. A missing directory is not an error.
    public func checkWritable(_ directory: String) throws(FileError) {
        do throws(FileError) {
            // This file is created anyway when the directory is locked.
            calls.close(try open("\(directory)/lock", .locking))
        } catch {
            guard error.reason == .system(.notFound) else { throw error }
        }
    }

    /// Writes all bytes, in as many calls as needed.
    func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = try attempt(.write, path) { () throws(SystemError) in
                try bytes.span.withUnsafeBytes { (all) throws(SystemError) in
                    try calls.write(descriptor, UnsafeRawBufferPointer(rebasing: all[written...]))
                }
            }
            // Without this check, a write that returns 0 without an error would loop forever.
            guard count > 0 else { throw FileError(.write, path, .inputOutput) }
            written += count
        }
    }

    /// Makes one call and repeats it after EINTR. Adds the operation and the path to an error.
    @discardableResult
    func attempt<Value>(
        _ operation: FileError.Operation, _ path: String, _ call: () throws(SystemError) -> Value
    ) throws(FileError) -> Value {
        while true {
            do throws(SystemError) {
                return try call()
            } catch {
                guard error == .interrupted else { throw FileError(operation, path, error) }
            }
        }
    }
}

/// Returns the parent directory of a path.
package func parentDirectory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
