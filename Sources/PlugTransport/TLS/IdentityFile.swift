public import DurableFiles

extension TransportIdentity {
    /// Bytes of a key's file; it takes 241.
    private static let fileLimit = 4096

    /// The identity in the file. On the first start there is none: it is drawn and written, readable by its owner alone.
    ///
    /// - Parameter isPinned: others know this machine by the key that is to be there, so that another would be of no use.
    /// - Throws: ``IdentityFileError``. A key that is damaged or that others could read is never replaced by itself: with a new
    ///   one nobody who paired with the old one would know this machine any more.
    public static func kept(
        in path: String, isPinned: Bool = false, files: FileStore = FileStore()
    ) throws(IdentityFileError) -> TransportIdentity {
        if let known = try read(path, files) { return known }
        guard !isPinned else { throw .missing(path: path) }
        let drawn = TransportIdentity()
        // Another process that started at the same time was quicker: its key counts for both.
        return try drawn.keep(in: path, files: files) ? drawn : try kept(in: path, files: files)
    }

    /// Writes the identity, readable by its owner alone, unless there is one in the file: then it stays as it is.
    ///
    /// - Returns: whether it was written.
    /// - Throws: ``IdentityFileError/notKept(_:)``.
    public func keep(in path: String, files: FileStore = FileStore()) throws(IdentityFileError) -> Bool {
        do throws(FileError) {
            return try files.createSecret(path, with: Array(pem.utf8))
        } catch {
            throw .notKept(error)
        }
    }

    private static func read(_ path: String, _ files: FileStore) throws(IdentityFileError) -> TransportIdentity? {
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try files.readSecretIfPresent(path, limit: fileLimit)
        } catch {
            throw .unusable(error)
        }
        guard let bytes else { return nil }
        do throws(TransportIdentityError) {
            return try TransportIdentity(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .damaged(path: path, error)
        }
    }
}

/// Why there is no identity.
public enum IdentityFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is a key, and it cannot be read or must not be used.
    case unusable(FileError)
    case damaged(path: String, TransportIdentityError)
    /// There is none, although others know this machine by one.
    case missing(path: String)
    /// There is none yet, and one that was drawn could not be written.
    case notKept(FileError)

    /// With a line that begins with `hint:` where something sensible can be said.
    public var description: String {
        switch self {
        case .unusable(let error), .notKept(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let error):
            """
            cannot use the key in \(path): \(error)
            hint: restore the file from a backup, or move it away and start again for a new key; then pair anew
            """
        case .missing(let path):
            """
            the key in \(path) is missing, and those who are paired know this machine by it
            hint: restore the file from a backup, or have everybody forgotten (`plugd reset`) and pair anew
            """
        }
    }
}
