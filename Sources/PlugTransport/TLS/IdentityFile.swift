public import DurableFiles

extension TransportIdentity {
    /// Bytes of a key's file; it takes 241.
    private static let fileLimit = 4096

    /// The identity in the file. On the first start there is none: it is drawn and written, readable by its owner alone.
    ///
    /// - Throws: ``IdentityFileError``. A key that is damaged or that others could read is never replaced by itself: with a new
    ///   one nobody who paired with the old one would know this machine any more.
    public static func kept(in path: String, files: FileStore = FileStore()) throws(IdentityFileError)
        -> TransportIdentity
    {
        let kept: [UInt8]
        do throws(FileError) {
            guard let bytes = try files.readSecretIfPresent(path, limit: fileLimit) else {
                let identity = TransportIdentity()
                try files.replaceSecret(path, with: Array(identity.pem.utf8))
                return identity
            }
            kept = bytes
        } catch {
            throw .file(error)
        }
        do throws(TransportIdentityError) {
            return try TransportIdentity(pem: String(decoding: kept, as: UTF8.self))
        } catch {
            throw .damaged(path: path, error)
        }
    }
}

/// Why there is no identity.
public enum IdentityFileError: Error, Hashable, Sendable, CustomStringConvertible {
    case file(FileError)
    case damaged(path: String, TransportIdentityError)

    /// With a line that begins with `hint:` where something sensible can be said.
    public var description: String {
        switch self {
        case .file(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let error):
            """
            cannot use the key in \(path): \(error)
            hint: restore the file from a backup, or move it away and start again for a new key; then pair anew
            """
        }
    }
}
