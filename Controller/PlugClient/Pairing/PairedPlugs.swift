public import LinuxSystem
public import PlugModel

/// The list of paired plugs with their keys, in a file that all programs of a user share. It is read for each
/// connection, so a plug that another program paired is known at once.
public struct PairedPlugs: Sendable {
    /// A paired plug.
    public struct Entry: Hashable, Sendable {
        /// The plug's id.
        public var id: PlugID
        /// The plug's key.
        public var key: PublicKey
        /// The key that the plug has announced for later use, or nil. Both keys are accepted until the plug proves this
        /// one.
        public var nextKey: PublicKey?
        /// The plug's last name that this controller knows.
        public var name: String

        /// Creates an entry from its parts.
        public init(id: PlugID, key: PublicKey, nextKey: PublicKey? = nil, name: String) {
            self.id = id
            self.key = key
            self.nextKey = nextKey
            self.name = name
        }

        /// Returns true if the key is pinned for this plug.
        func has(_ key: PublicKey) -> Bool { self.key == key || nextKey == key }
    }

    /// The maximum number of plugs; the oldest is removed first. The limit prevents a program that pairs in a loop from
    /// slowing down every connection.
    static let limit = 1024
    /// The maximum size of the file in bytes, with the longest possible keys and names.
    private static let byteLimit = limit * (PairedPlugs.idDigits + 4 * PublicKey.longest + PlugWire.maximumName + 4)
    private static let idDigits = 12
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(50)

    let directory: String
    let files: FileStore

    /// Refers to the list in a directory. Nothing is read yet.
    ///
    /// - Parameters:
    ///   - directory: The directory of the list; nil for the directory of `TransportIdentity.ofThisController()`.
    ///   - files: The file system; tests pass a simulated one.
    public init(directory: String? = nil, files: FileStore = FileStore()) {
        self.directory = directory ?? ControllerDirectory.path
        self.files = files
    }

    private var path: String { directory + "/plugs" }

    /// Reads the list, in the order in which the plugs were paired. A missing or empty file is an empty list.
    ///
    /// - Throws: ``PairedPlugsError``, also if the file is damaged.
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

    /// Reads the plugs with their last known names. The names are unique: ``PlugModel/PlugID/distinguishing(_:)``
    /// extends a name that several plugs have.
    ///
    /// - Throws: ``PairedPlugsError``.
    public func names() throws(PairedPlugsError) -> [PlugID: String] {
        let all = try all()
        let counts = Dictionary(all.map { ($0.name, 1) }, uniquingKeysWith: +)
        return all.reduce(into: [:]) { names, plug in
            names[plug.id] = counts[plug.name] == 1 ? plug.name : plug.id.distinguishing(plug.name)
        }
    }

    /// Adds a plug and pins its key. If the plug is already paired, this replaces its entry.
    ///
    /// - Parameters:
    ///   - plug: The plug to add.
    ///   - replacing: Pins the key also if the id is paired with a different key. Any plug can claim any id, so the
    ///     user has to request this.
    /// - Throws: ``PairedPlugsError``, or `CancellationError` if the task is cancelled while it waits for another
    ///   program's write.
    public func add(_ plug: Entry, replacing: Bool = false) async throws {
        try await change { plugs throws(PairedPlugsError) in
            if !replacing, let known = plugs.first(where: { $0.id == plug.id }), !known.has(plug.key) {
                throw .pinned(known, claimedBy: plug.name)
            }
            plugs.removeAll { $0.id == plug.id }
            plugs.append(plug)
        }
    }

    /// Stores a plug's new name. Does nothing if the plug is not paired. If another paired plug already has the given
    /// name, the announced name is stored instead. The current name then stays if the announced name is taken too, or
    /// if the current name is the given name with or without a numeric suffix.
    ///
    /// - Parameters:
    ///   - id: The plug.
    ///   - names: The names that the plug reported.
    ///   - writing: Called before a write; not called if nothing changes.
    /// - Throws: See ``add(_:replacing:)``.
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

    /// Stores the next key that the plug announced. Does nothing if the plug is not paired, or if the key is already
    /// stored for it.
    ///
    /// - Parameters:
    ///   - next: The announced key.
    ///   - id: The plug.
    ///   - writing: Called before a write; not called if nothing changes.
    /// - Throws: ``PairedPlugsError``.
    func announce(_ next: PublicKey, of id: PlugID, writing: () -> Void = {}) throws(PairedPlugsError) {
        guard let known = try all().first(where: { $0.id == id }), known.nextKey != next, known.key != next else {
            return
        }
        writing()
        try changeAtOnce(id) { $0.nextKey = next }
    }

    /// Replaces the plug's key if the plug proved the key that it had announced. The previous key is no longer
    /// accepted.
    ///
    /// - Throws: See ``announce(_:of:writing:)``.
    func proved(_ key: PublicKey, by id: PlugID) throws(PairedPlugsError) {
        guard let known = try all().first(where: { $0.id == id }), known.nextKey == key else { return }
        try changeAtOnce(id) { ($0.key, $0.nextKey) = (key, nil) }
    }

    /// Changes an entry without waiting for the lock. If another program holds the lock, the change fails, and the plug
    /// announces the key again in the next session.
    private func changeAtOnce(_ id: PlugID, _ work: (inout Entry) -> Void) throws(PairedPlugsError) {
        let lock: DirectoryLock
        do throws(FileError) { lock = try DirectoryLock(directory, store: files) } catch { throw .unusable(error) }
        defer { withExtendedLifetime(lock) {} }
        try write { plugs in
            guard let index = plugs.firstIndex(where: { $0.id == id }) else { return }
            work(&plugs[index])
        }
    }

    /// Removes the plug and its stored address. Does nothing if the plug is not paired.
    ///
    /// - Throws: See ``add(_:replacing:)``.
    public func remove(_ id: PlugID) async throws {
        try await change { plugs in plugs.removeAll { $0.id == id } }
        // The address of a plug that is not paired is ignored, so it may remain.
        if (try? addresses()[id]) != nil { try? await setAddress(nil, of: id) }
    }

    /// Changes the list under a lock. Without the lock, two programs that pair at the same time could lose a plug.
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

    /// Waits for the lock, which another program holds only while it writes a small file. Gives up after `lockTries`.
    func takeLock() async throws -> DirectoryLock {
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

/// The reason why the list of paired plugs cannot be read or changed.
public enum PairedPlugsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be read or written.
    case unusable(FileError)
    /// A line of the file is invalid. Lines are counted from 1.
    case damaged(path: String, line: Int)
    /// A line of the file with the stored addresses is invalid.
    case damagedAddress(path: String, line: Int)
    /// A plug claims the id of a plug that is paired with a different key.
    case pinned(PairedPlugs.Entry, claimedBy: String)

    /// The message for the user, with a hint.
    public var description: String {
        switch self {
        case .unusable(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let line):
            """
            \(path) line \(line) is damaged: expected a plug's id, its key in hexadecimal digits and its name
            hint: correct or remove that line; if a plug is lost with it, pair the plug again with `plugctl pair`
            """
        case .damagedAddress(let path, let line):
            """
            \(path) line \(line) is damaged: expected a plug's id and its address
            hint: correct or remove that line; `plugctl address NAME HOST:PORT` stores the address again
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
