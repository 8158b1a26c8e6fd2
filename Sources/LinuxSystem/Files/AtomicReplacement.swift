extension FileStore {
    /// Replaces the content of a file so that any reader, also after a power cut, finds either the old or the new
    /// bytes, never a mixture. When it returns, the new bytes are durable. When it throws, the file is unchanged,
    /// except after a failure of the last step (``FileError/Operation/synchronize`` of the directory): then a power cut
    /// may keep either content.
    ///
    /// The new content is first written to `NAME.new` in the same directory. Two writers of one file would share that
    /// name, so callers hold the directory's ``DirectoryLock``.
    ///
    /// - Parameter mode: the permissions of the new file, before the process's file mode creation mask is applied; by
    ///   default only the owner can read it.
    public func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(FileError) {
        try replace(path, with: bytes, mode: mode, isExact: false)
    }

    /// Replaces a file as ``replace(_:with:mode:)`` does. The new file has mode 0644, independent of the process's file
    /// mode creation mask.
    public func replaceForAll(_ path: String, with bytes: [UInt8]) throws(FileError) {
        try replace(path, with: bytes, mode: 0o644, isExact: true)
    }

    private func replace(_ path: String, with bytes: [UInt8], mode: UInt32, isExact: Bool) throws(FileError) {
        let replacement = path + ".new"
        do throws(FileError) {
            try writeReplacement(replacement, bytes, mode, isExact: isExact)
            try attempt(.rename, path) { () throws(SystemError) in try calls.rename(replacement, to: path) }
        } catch {
            // Free the space, because the disk may be full. If this fails too, the first error is the useful one.
            try? calls.remove(replacement)
            throw error
        }
        try synchronizeDirectory(of: path)
    }

    func writeReplacement(
        _ path: String, _ bytes: [UInt8], _ mode: UInt32, isExact: Bool = false
    ) throws(FileError) {
        let descriptor = try openReplacement(path, mode)
        defer { calls.close(descriptor) }
        if isExact { try attempt(.write, path) { () throws(SystemError) in try calls.setMode(descriptor, to: mode) } }
        try writeAll(bytes, to: descriptor, path: path)
        try attempt(.synchronize, path) { () throws(SystemError) in try calls.synchronize(descriptor) }
    }

    /// Creates the replacement file. An unfinished file that a power cut left is removed and not reused: its
    /// permissions may differ, and its name may now be a link.
    private func openReplacement(_ path: String, _ mode: UInt32) throws(FileError) -> Int32 {
        do throws(FileError) {
            return try open(path, .creating(mode: mode))
        } catch {
            guard error.reason == .system(.alreadyExists) else { throw error }
            try attempt(.write, path) { () throws(SystemError) in try calls.remove(path) }
            return try open(path, .creating(mode: mode))
        }
    }
}
