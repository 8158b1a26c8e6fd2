import Glibc

/// Secrets, such as keys and codes: files that only their owner may read or write.
extension FileStore {
    /// Replaces a secret as ``replace(_:with:mode:)`` does. It has mode 0600 from its creation.
    public func replaceSecret(_ path: String, with bytes: [UInt8]) throws(FileError) {
        try replace(path, with: bytes, mode: 0o600)
    }

    /// Creates a secret, complete and durable, unless a file of that name exists, which then stays unchanged.
    ///
    /// - Returns: true if the file was created. If several processes create the file at the same time, exactly one
    ///   process gets true.
    public func createSecret(_ path: String, with bytes: [UInt8]) throws(FileError) -> Bool {
        // The name is unique to this process, because another process may do the same.
        let draft = path + ".\(getpid())"
        let isMade: Bool
        do throws(FileError) {
            try writeReplacement(draft, bytes, 0o600)
            isMade = try name(draft, path)
        } catch {
            try? calls.remove(draft)
            throw error
        }
        try attempt(.remove, draft) { () throws(SystemError) in try calls.remove(draft) }
        try synchronizeDirectory(of: path)
        return isMade
    }

    /// Links the draft to the path. Returns false if a file of that name exists.
    private func name(_ draft: String, _ path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            try attempt(.write, path) { () throws(SystemError) in try calls.link(draft, to: path) }
            return true
        } catch {
            guard error.reason == .system(.alreadyExists) else { throw error }
            return false
        }
    }

    /// Returns the content of a secret, or nil if the file does not exist.
    ///
    /// A secret that other users could read is no longer secret, and a secret that they could write may have been
    /// replaced. Both are refused and not repaired. A link is refused too.
    ///
    /// - Throws: ``FileError`` with ``FileError/Reason/exposed(permissions:)``, ``FileError/Reason/foreign(owner:)``,
    ///   ``FileError/Reason/noPlainFile`` or ``FileError/Reason/empty``, and the errors of ``read(_:limit:)``.
    public func readSecretIfPresent(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
        try inTime(path, limit) { () throws(FileError) in try secret(path, limit: limit) }
    }

    private func secret(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
        let descriptor: Int32
        do throws(FileError) {
            descriptor = try open(path, .readingSecret)
        } catch {
            guard error.reason != .system(.notFound) else { return nil }
            guard error.reason != .system(.link) else { throw FileError(.read, path, .noPlainFile) }
            throw error
        }
        defer { calls.close(descriptor) }
        try requireSecret(descriptor, path, .read)
        let bytes = try readAll(of: descriptor, path, limit: limit)
        guard !bytes.isEmpty else { throw FileError(.read, path, .empty) }
        return bytes
    }

    /// Checks the open file, not the path: the file at a path may be replaced between two accesses.
    func requireSecret(_ descriptor: Int32, _ path: String, _ operation: FileError.Operation) throws(FileError) {
        let access = try attempt(operation, path) { () throws(SystemError) in try calls.access(descriptor) }
        guard access.mode & S_IFMT == S_IFREG else { throw FileError(operation, path, .noPlainFile) }
        guard access.owner == geteuid() else { throw FileError(operation, path, .foreign(owner: access.owner)) }
        guard access.mode & 0o077 == 0 else {
            throw FileError(operation, path, .exposed(permissions: access.mode & 0o777))
        }
    }
}
