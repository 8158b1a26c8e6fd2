public import DurableFiles
public import PlugModel
public import PlugTransport

/// This controller takes another key, which it announces to each of its plugs before it uses it.
///
/// Until all of them know the new key the old one counts, and a plug lets in whoever proves either. Beside the key's file stand, as
/// long as that takes, the next key and the ids of the plugs that know it; so a rotation goes on where it was, however its program ended.
public struct KeyRotation: Sendable {
    /// Bytes of the list of plugs that know the next key.
    private static let listLimit = 13 * PairedPlugs.limit

    /// What this controller will prove itself with.
    public let next: TransportIdentity
    private let directory: String
    private let files: FileStore
    private var known: Set<PlugID>

    private var listPath: String { Self.paths(in: directory)[1] }
    private var nextPath: String { Self.paths(in: directory)[0] }

    /// The next key, and the list of the plugs that know it.
    static func paths(in directory: String) -> [String] { [directory + "/next-key", directory + "/next-key-plugs"] }

    /// Draws the next key, or takes the one that was drawn before and is not in use yet.
    ///
    /// - Parameters:
    ///   - own: the key in use.
    ///   - directory: nil for that of `TransportIdentity.ofThisController()`.
    /// - Throws: `IdentityFileError`, `FileError`.
    public init(own: PublicKey, directory: String? = nil, files: FileStore = FileStore()) throws {
        self.directory = directory ?? ControllerDirectory.path
        self.files = files
        let nextPath = self.directory + "/next-key"
        var next = try TransportIdentity.kept(in: nextPath, files: files)
        var known: Set<PlugID> = []
        if next.publicKey == own {
            // The rotation before was done, and its program ended before it could clean up.
            try files.removeIfPresent(self.directory + "/next-key-plugs")
            try files.removeIfPresent(nextPath)
            next = try TransportIdentity.kept(in: nextPath, files: files)
        } else {
            let bytes = try files.readSecretIfPresent(self.directory + "/next-key-plugs", limit: Self.listLimit) ?? []
            // One that cannot be read is asked again.
            known = Set(bytes.split(separator: 10).compactMap { PlugID(rawValue: String(decoding: $0, as: UTF8.self)) })
        }
        self.next = next
        self.known = known
    }

    /// Whether the plug has said that it knows the next key.
    public func isKnown(to plug: PlugID) -> Bool { known.contains(plug) }

    /// - Throws: `FileError`.
    public mutating func note(_ plug: PlugID) throws(FileError) {
        known.insert(plug)
        let lines = known.map(\.rawValue).sorted().map { $0 + "\n" }.joined()
        try files.replaceSecret(listPath, with: Array(lines.utf8))
    }

    /// From now on the next key is the one in use. Programs that run take it with their next connection.
    ///
    /// - Throws: `FileError`.
    public func finish() throws(FileError) {
        try files.replaceSecret(directory + "/key", with: Array(next.pem.utf8))
        try files.removeIfPresent(listPath)
        try files.removeIfPresent(nextPath)
    }
}
