public import LinuxSystem
public import PlugModel
public import PlugTransport

/// Replaces the key of this controller. Each plug receives the new key before the controller uses it.
///
/// The old key stays in use until all plugs know the new one; meanwhile a plug accepts both. The next key and the ids
/// of the plugs that know it are stored next to the key file, so a rotation resumes after its program ended for any
/// reason.
public struct KeyRotation: Sendable {
    /// The maximum size in bytes of the list of plugs that know the next key.
    private static let listLimit = 13 * PairedPlugs.limit

    /// The key that this controller will use.
    public let next: TransportIdentity
    private let directory: String
    private let files: FileStore
    private var known: Set<PlugID>

    private var listPath: String { Self.paths(in: directory)[1] }
    private var nextPath: String { Self.paths(in: directory)[0] }

    /// The paths of the next key and of the list of plugs that know it.
    static func paths(in directory: String) -> [String] { [directory + "/next-key", directory + "/next-key-plugs"] }

    /// Generates the next key, or reads the next key of an unfinished rotation.
    ///
    /// - Parameters:
    ///   - own: The key in use.
    ///   - directory: The directory of the files; nil for the directory of `TransportIdentity.ofThisController()`.
    ///   - files: The file system; tests pass a simulated one.
    /// - Throws: `IdentityFileError`, `FileError`.
    public init(own: PublicKey, directory: String? = nil, files: FileStore = FileStore()) throws {
        self.directory = directory ?? ControllerDirectory.path
        self.files = files
        let nextPath = self.directory + "/next-key"
        var next = try TransportIdentity.kept(in: nextPath, files: files)
        var known: Set<PlugID> = []
        if next.publicKey == own {
            // The previous rotation finished, but its program ended before it removed the files.
            try files.removeIfPresent(self.directory + "/next-key-plugs")
            try files.removeIfPresent(nextPath)
            next = try TransportIdentity.kept(in: nextPath, files: files)
        } else {
            let bytes = try files.readSecretIfPresent(self.directory + "/next-key-plugs", limit: Self.listLimit) ?? []
            // Invalid ids are skipped; those plugs receive the next key again.
            known = Set(bytes.split(separator: 10).compactMap { PlugID(rawValue: String(decoding: $0, as: UTF8.self)) })
        }
        self.next = next
        self.known = known
    }

    /// Returns true if the plug has confirmed that it knows the next key.
    public func isKnown(to plug: PlugID) -> Bool { known.contains(plug) }

    /// Records that the plug knows the next key.
    ///
    /// - Throws: `FileError`.
    public mutating func note(_ plug: PlugID) throws(FileError) {
        known.insert(plug)
        let lines = known.map(\.rawValue).sorted().map { $0 + "\n" }.joined()
        try files.replaceSecret(listPath, with: Array(lines.utf8))
    }

    /// Makes the next key the key of this controller. A running ``PlugClient`` uses the new key on its next connection
    /// if its `renewed` closure reads the key file.
    ///
    /// - Throws: `FileError`.
    public func finish() throws(FileError) {
        try files.replaceSecret(directory + "/key", with: Array(next.pem.utf8))
        try files.removeIfPresent(listPath)
        try files.removeIfPresent(nextPath)
    }
}
