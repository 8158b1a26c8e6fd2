public import DurableFiles
public import PlugModel

/// The plugs that this controller is paired with: their keys, in a file that all programs of one person share. It is read anew
/// for each connection, so a plug that another program paired is known at once.
public struct PairedPlugs: Sendable {
    public struct Entry: Hashable, Sendable {
        public var id: PlugID
        /// What the plug proves itself with.
        public var key: PublicKey
        /// The one that it will prove itself with from some moment on; until then either counts.
        public var nextKey: PublicKey?
        /// What it was called last, as far as this controller knows.
        public var name: String

        public init(id: PlugID, key: PublicKey, nextKey: PublicKey? = nil, name: String) {
            self.id = id
            self.key = key
            self.nextKey = nextKey
            self.name = name
        }

        /// Whether the key is pinned for this plug.
        func has(_ key: PublicKey) -> Bool { self.key == key || nextKey == key }
    }

    /// Stops a program that pairs in a loop from making every connection slow; the oldest is forgotten first.
    static let limit = 1024
    /// Bytes of the file with all of them, each of the longest key and name.
    private static let byteLimit = limit * (PairedPlugs.idDigits + 4 * PublicKey.longest + PlugWire.maximumName + 4)
    private static let idDigits = 12
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(50)

    private let directory: String
    private let files: FileStore

    /// - Parameters:
    ///   - directory: nil for that of `TransportIdentity.ofThisController()`.
    ///   - files: how they are read and replaced.
    public init(directory: String? = nil, files: FileStore = FileStore()) {
        self.directory = directory ?? ControllerDirectory.path
        self.files = files
    }

    private var path: String { directory + "/plugs" }

    /// In the order in which they were paired.
    ///
    /// - Throws: ``PairedPlugsError``. A file that cannot be understood is not taken for an empty one.
    public func all() throws(PairedPlugsError) -> [Entry] {
        let bytes: [UInt8]?
        do throws(FileError) {
            bytes = try files.readSecretIfPresent(path, limit: Self.byteLimit)
        } catch {
            guard error.reason == .empty else { throw .unusable(error) }
            return []
        }
        do throws(PairedPlugsText.DamagedLine) {
            return try PairedPlugsText.parse(bytes ?? [])
        } catch {
            throw .damaged(path: path, line: error.number)
        }
    }

    /// The plugs by what they were called last. No two have one name: plugs of one name are told apart as
    /// ``PlugModel/PlugID/distinguishing(_:)`` does.
    ///
    /// - Throws: ``PairedPlugsError``.
    public func names() throws(PairedPlugsError) -> [PlugID: String] {
        let all = try all()
        let counts = Dictionary(all.map { ($0.name, 1) }, uniquingKeysWith: +)
        return all.reduce(into: [:]) { names, plug in
            names[plug.id] = counts[plug.name] == 1 ? plug.name : plug.id.distinguishing(plug.name)
        }
    }

    /// Pins the plug's key. A plug that is paired already gets its new name.
    ///
    /// - Parameter replacing: pins the key also if the id is paired with a different key. Any plug can claim any id, so the user has
    ///   to request this.
    /// - Throws: ``PairedPlugsError``, or `CancellationError` while another program writes.
    public func add(_ plug: Entry, replacing: Bool = false) async throws {
        try await change { plugs throws(PairedPlugsError) in
            if !replacing, let known = plugs.first(where: { $0.id == plug.id }), !known.has(plug.key) {
                throw .pinned(known, claimedBy: plug.name)
            }
            plugs.removeAll { $0.id == plug.id }
            plugs.append(plug)
        }
    }

    /// The plug is called so; does nothing where it is not there. What a plug says of itself takes no other plug's place.
    ///
    /// - Parameter writing: called before a write; not called if nothing changes.
    /// - Throws: as ``add(_:)``.
    public func rename(_ id: PlugID, to names: PlugNames, writing: () -> Void = {}) async throws {
        guard Self.isRenamed(id, names, in: try all()) else { return }
        writing()
        try await change { plugs in
            guard let index = plugs.firstIndex(where: { $0.id == id }) else { return }
            plugs[index].name = Self.name(of: plugs[index], names, in: plugs)
        }
    }

    private static func isRenamed(_ id: PlugID, _ names: PlugNames, in plugs: [Entry]) -> Bool {
        plugs.first { $0.id == id }.map { name(of: $0, names, in: plugs) != $0.name } ?? false
    }

    private static func name(of plug: Entry, _ names: PlugNames, in plugs: [Entry]) -> String {
        names.bound(known: plug.name) { name in
            plugs.contains { $0.id != plug.id && $0.name.foldedPlugName == name.foldedPlugName }
        }
    }

    /// The plug will have this key; does nothing where it is not there.
    ///
    /// - Parameter writing: called before a write; not called if nothing changes.
    /// - Throws: ``PairedPlugsError``.
    func announce(_ next: PublicKey, of id: PlugID, writing: () -> Void = {}) throws(PairedPlugsError) {
        guard let known = try all().first(where: { $0.id == id }), known.nextKey != next, known.key != next else {
            return
        }
        writing()
        try changeAtOnce(id) { $0.nextKey = next }
    }

    /// The plug proved this key: where it is the one that it had announced, the one before counts no more.
    ///
    /// - Throws: as ``announce(_:of:)``.
    func proved(_ key: PublicKey, by id: PlugID) throws(PairedPlugsError) {
        guard let known = try all().first(where: { $0.id == id }), known.nextKey == key else { return }
        try changeAtOnce(id) { ($0.key, $0.nextKey) = (key, nil) }
    }

    /// Waits for no other program: a short-lived one that hears of a key has no time. The next session says it again.
    private func changeAtOnce(_ id: PlugID, _ work: (inout Entry) -> Void) throws(PairedPlugsError) {
        let lock: DirectoryLock
        do throws(FileError) { lock = try DirectoryLock(directory, store: files) } catch { throw .unusable(error) }
        defer { withExtendedLifetime(lock) {} }
        try write { plugs in
            guard let index = plugs.firstIndex(where: { $0.id == id }) else { return }
            work(&plugs[index])
        }
    }

    /// Forgets the plug; does nothing where it is not there.
    ///
    /// - Throws: as ``add(_:)``.
    public func remove(_ id: PlugID) async throws {
        try await change { plugs in plugs.removeAll { $0.id == id } }
    }

    /// Under a lock: two programs that pair at the same moment would else lose one of the plugs.
    private func change(_ work: (inout [Entry]) throws(PairedPlugsError) -> Void) async throws {
        let lock = try await takeLock()
        defer { withExtendedLifetime(lock) {} }
        try write(work)
    }

    private func write(_ work: (inout [Entry]) throws(PairedPlugsError) -> Void) throws(PairedPlugsError) {
        var plugs = try all()
        try work(&plugs)
        let bytes = PairedPlugsText.bytes(of: plugs.suffix(Self.limit))
        do throws(FileError) {
            try files.replaceSecret(path, with: bytes)
        } catch {
            throw PairedPlugsError.unusable(error)
        }
    }

    /// Another program holds it as long as a small file takes to be written.
    private func takeLock() async throws -> DirectoryLock {
        var tries = 0
        while true {
            do throws(FileError) {
                try files.makeDirectories(directory)
                return try DirectoryLock(directory, store: files)
            } catch {
                tries += 1
                guard case .held = error.reason, tries < Self.lockTries else { throw PairedPlugsError.unusable(error) }
            }
            try await Task.sleep(for: Self.lockPause)
        }
    }
}

/// Why nobody can say which plugs are paired.
public enum PairedPlugsError: Error, Hashable, Sendable, CustomStringConvertible {
    case unusable(FileError)
    case damaged(path: String, line: Int)
    /// A plug claims the id of one that is paired with a different key.
    case pinned(PairedPlugs.Entry, claimedBy: String)

    public var description: String {
        switch self {
        case .unusable(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let line):
            """
            \(path) line \(line) is damaged: expected a plug's id, its key in hexadecimal digits and its name
            hint: mend or remove that line; a plug that is lost with it is paired anew with `plugctl pair`
            """
        case .pinned(let known, let name):
            """
            "\(name)" claims to be plug \(known.id), which is paired as "\(known.name)" with a different key; nothing was replaced
            hint: another device may pretend to be "\(known.name)"; if "\(known.name)" was reset or has a new key, run \
            `plugctl pair "\(name)" --replace`
            """
        }
    }
}
