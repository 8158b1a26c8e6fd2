import Glibc

extension FileStore {
    /// Creates the directory and its missing parents. An existing directory is not changed.
    ///
    /// - Parameter mode: the permissions of the last directory, before the process's file mode creation mask is
    ///   applied; its parents get 0755.
    public func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(FileError) {
        let trimmed = withoutTrailingSlashes(path)
        guard !calls.isDirectory(trimmed) else { return }
        let parent = parentDirectory(of: trimmed)
        if parent != "/", parent != "." { try makeDirectories(parent, mode: 0o755) }
        do throws(FileError) {
            try attempt(.makeDirectory, trimmed) { () throws(SystemError) in
                try calls.makeDirectory(trimmed, mode: mode)
            }
        } catch {
            // Another process may have created the directory since the check.
            guard error.reason == .system(.alreadyExists), calls.isDirectory(trimmed) else { throw error }
        }
        try synchronizeDirectory(of: trimmed)
    }

    private func withoutTrailingSlashes(_ path: String) -> String {
        var trimmed = Substring(path)
        while trimmed.count > 1, trimmed.last == "/" { trimmed.removeLast() }
        return String(trimmed)
    }

    /// Returns the number of bytes that this process can still write to the directory's file system, or nil if it is not
    /// known.
    public func room(in directory: String) -> UInt64? {
        var space = statvfs()
        guard statvfs(directory, &space) == 0 else { return nil }
        let (bytes, overflow) = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
        return overflow ? .max : bytes
    }
}
