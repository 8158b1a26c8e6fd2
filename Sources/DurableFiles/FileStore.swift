/// Files that survive a power cut: whole-file reads with a limit, atomic replacement, appends that are complete or absent.
///
/// Paths are the kernel's: absolute, or relative to the working directory. Every call blocks until the storage has answered;
/// those that read, for a while at most (``Patience``).
public struct FileStore: Sendable {
    let calls: any FileCalls
    let patience: Patience

    public init(calls: any FileCalls = LinuxFileCalls(), patience: Patience = .ofFiles) {
        (self.calls, self.patience) = (calls, patience)
    }

    func open(_ path: String, _ purpose: OpenPurpose) throws(FileError) -> Int32 {
        try attempt(.open, path) { () throws(SystemError) in try calls.open(path, purpose) }
    }

    /// Makes the entries of a file's directory durable: without it a power cut may forget a name whose data was kept.
    func synchronizeDirectory(of path: String) throws(FileError) {
        let parent = parentDirectory(of: path)
        let descriptor = try open(parent, .directory)
        defer { calls.close(descriptor) }
        try attempt(.synchronize, parent) { () throws(SystemError) in try calls.synchronize(descriptor) }
    }

    /// Renames a file, in the place of one that has the name.
    public func rename(_ path: String, to newPath: String) throws(FileError) {
        try attempt(.rename, newPath) { () throws(SystemError) in try calls.rename(path, to: newPath) }
        try synchronizeDirectory(of: newPath)
    }

    /// Removes a file; that there is none is as good.
    public func removeIfPresent(_ path: String) throws(FileError) {
        do throws(FileError) {
            try attempt(.remove, path) { () throws(SystemError) in try calls.remove(path) }
        } catch {
            guard error.reason == .system(.notFound) else { throw error }
        }
    }

    /// The names in a directory, in order.
    public func names(in directory: String) throws(FileError) -> [String] {
        try attempt(.read, directory) { () throws(SystemError) in try calls.names(in: directory) }
    }

    /// Removes files of one directory, those that are there. When it returns, no loss of power brings one of them back.
    public func removeDurably(_ names: [String], from directory: String) throws(FileError) {
        for name in names { try removeIfPresent("\(directory)/\(name)") }
        try synchronizeDirectory(of: "\(directory)/.")
    }

    /// Makes an empty file where nothing has its name; one that is there stays as it is and is not opened.
    /// - Parameter mode: permissions before the process's mask.
    public func makeFileIfAbsent(_ path: String, mode: UInt32) throws(FileError) {
        do throws(FileError) {
            calls.close(try open(path, .creating(mode: mode)))
        } catch {
            guard error.reason == .system(.alreadyExists) else { throw error }
            return
        }
        try synchronizeDirectory(of: path)
    }

    /// Returns when the path's file system has answered. A call on one that never answers would stay in the kernel without a message:
    /// callers check a directory that the user named before they use it.
    ///
    /// - Throws: ``FileError`` with ``FileError/Reason/late`` if there is no answer in time (``Patience``).
    public func requireAnswer(of path: String) throws(FileError) {
        let calls = calls
        let answer = patience.within(place: path) { calls.isDirectory(path) }
        guard answer != nil else { throw FileError(.open, path, .late) }
    }

    /// Looks whether this process may make files in a directory; one that is not there is none that it may not.
    public func checkWritable(_ directory: String) throws(FileError) {
        do throws(FileError) {
            // The file that whoever takes the directory writes anyway.
            calls.close(try open("\(directory)/lock", .locking))
        } catch {
            guard error.reason == .system(.notFound) else { throw error }
        }
    }

    /// Writes everything, however little the kernel takes at a time.
    func writeAll(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = try attempt(.write, path) { () throws(SystemError) in
                try bytes.span.withUnsafeBytes { (all) throws(SystemError) in
                    try calls.write(descriptor, UnsafeRawBufferPointer(rebasing: all[written...]))
                }
            }
            // A file that takes nothing and gives no error would be asked for ever.
            guard count > 0 else { throw FileError(.write, path, .inputOutput) }
            written += count
        }
    }

    /// Makes one call, again when a signal interrupted it, and says on which path it failed.
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

/// The directory that holds the path's last component.
func parentDirectory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
