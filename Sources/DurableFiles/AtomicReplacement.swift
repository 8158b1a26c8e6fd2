extension FileStore {
    /// Replaces the file's content so that any reader, and anyone after a power cut, finds the old bytes or the new ones,
    /// never a mixture. When it returns, the new ones are durable; when it throws, the file is as it was, except that a
    /// failed last step (``FileError/Operation/synchronize`` of the directory) leaves open which of the two a power cut
    /// would keep.
    ///
    /// The new content is written beside the file as `NAME.new`. Two writers of one file would share that name: hold the
    /// directory's ``DirectoryLock``.
    ///
    /// - Parameter mode: permissions of the new file before the process's mask; the default lets only the owner read it.
    public func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o600) throws(FileError) {
        try replace(path, with: bytes, mode: mode, isExact: false)
    }

    /// Replaces the file as ``replace(_:with:mode:)`` does, with one that every user may read, whatever the process's mask says.
    public func replaceForAll(_ path: String, with bytes: [UInt8]) throws(FileError) {
        try replace(path, with: bytes, mode: 0o644, isExact: true)
    }

    private func replace(_ path: String, with bytes: [UInt8], mode: UInt32, isExact: Bool) throws(FileError) {
        let replacement = path + ".new"
        do throws(FileError) {
            try writeReplacement(replacement, bytes, mode, isExact: isExact)
            try attempt(.rename, path) { () throws(SystemError) in try calls.rename(replacement, to: path) }
        } catch {
            // The space it takes may be what is missing. If this fails too, the first error is the one worth telling.
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

    /// A power cut may have left an unfinished replacement. It is removed, not reused: its permissions may be others, and
    /// the name may have been turned into a link.
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
