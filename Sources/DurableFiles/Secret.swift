import Glibc

/// Keys and codes: files that only their owner may touch.
extension FileStore {
    /// Replaces the secret as ``replace(_:with:mode:)`` does, with mode 0600 from its first byte on.
    public func replaceSecret(_ path: String, with bytes: [UInt8]) throws(FileError) {
        try replace(path, with: bytes, mode: 0o600)
    }

    /// Makes the secret, whole and durable, unless there is a file of that name: then it stays as it is.
    ///
    /// - Returns: whether it was made. Of several processes that make it at once, one does.
    public func createSecret(_ path: String, with bytes: [UInt8]) throws(FileError) -> Bool {
        // Of this process alone: another one may be at the same.
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

    /// False where there is a file of that name already.
    private func name(_ draft: String, _ path: String) throws(FileError) -> Bool {
        do throws(FileError) {
            try attempt(.write, path) { () throws(SystemError) in try calls.link(draft, to: path) }
            return true
        } catch {
            guard error.reason == .system(.alreadyExists) else { throw error }
            return false
        }
    }

    /// The secret's bytes, or nil if there is no such file yet.
    ///
    /// A secret that others could have read is none any more, and one that others could have written is theirs. So both are
    /// refused rather than repaired, and so is a link.
    ///
    /// - Throws: ``FileError`` with ``FileError/Reason/exposed(permissions:)``, ``FileError/Reason/foreign(owner:)``,
    ///   ``FileError/Reason/noPlainFile`` or ``FileError/Reason/empty``, and as ``read(_:limit:)`` does.
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

    /// Of the open file, not of the name: between two looks at a name another file may take its place.
    func requireSecret(_ descriptor: Int32, _ path: String, _ operation: FileError.Operation) throws(FileError) {
        let access = try attempt(operation, path) { () throws(SystemError) in try calls.access(descriptor) }
        guard access.mode & S_IFMT == S_IFREG else { throw FileError(operation, path, .noPlainFile) }
        guard access.owner == geteuid() else { throw FileError(operation, path, .foreign(owner: access.owner)) }
        guard access.mode & 0o077 == 0 else {
            throw FileError(operation, path, .exposed(permissions: access.mode & 0o777))
        }
    }
}
