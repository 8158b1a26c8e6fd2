public import LinuxSystem

extension TransportIdentity {
    /// The maximum size of a key file in bytes. The file of a key has 241 bytes.
    private static let fileLimit = 4096

    /// Loads the identity from a file. If the file is missing, draws a new identity and writes it, readable only by its
    /// owner.
    ///
    /// - Parameter isPinned: true if peers have already pinned the key. Then a missing file is an error, because the
    ///   peers would not accept a new key.
    /// - Throws: ``IdentityFileError``. A key that is damaged or readable by others is never replaced automatically: no
    ///   paired peer would accept the new key.
    public static func kept(
        in path: String, isPinned: Bool = false, files: FileStore = FileStore()
    ) throws(IdentityFileError) -> TransportIdentity {
        if let known = try read(path, files) { return known }
        guard !isPinned else { throw .missing(path: path) }
        let drawn = TransportIdentity()
        // If another process created the file in the meantime, both use its key.
        return try drawn.keep(in: path, files: files) ? drawn : try kept(in: path, files: files)
    }

    /// Writes the identity to a file, readable only by its owner. An existing file is not changed.
    ///
    /// - Returns: true if the file was written.
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

/// The reason why the identity cannot be loaded.
public enum IdentityFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key file cannot be read, or must not be used.
    case unusable(FileError)
    /// The file does not contain a valid key.
    case damaged(path: String, TransportIdentityError)
    /// The file is missing, although peers have pinned its key.
    case missing(path: String)
    /// The file was missing, and the new key could not be written.
    case notKept(FileError)

    /// The error, with a line that begins with `hint:` if there is a remedy.
    public var description: String {
        switch self {
        case .unusable(let error), .notKept(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let error):
            """
            cannot use the key in \(path): \(error)
            hint: restore the file from a backup, or move it away, restart to create a new key, and pair again
            """
        case .missing(let path):
            """
            the key in \(path) is missing, but existing pairings depend on it
            hint: restore the file from a backup, or remove all pairings with `plugd reset` and pair again
            """
        }
    }
}
