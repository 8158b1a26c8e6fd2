public import DurableFiles
public import PlugProtocol

/// The plugs that this controller is paired with: their keys, in a file that all programs of one person share. It is read anew
/// for each connection, so a plug that another program paired is known at once.
public struct PairedPlugs: Sendable {
    public struct Entry: Hashable, Sendable {
        public var id: PlugID
        /// What the plug proves itself with.
        public var key: PublicKey
        /// What it was called when it was paired.
        public var name: String

        public init(id: PlugID, key: PublicKey, name: String) {
            self.id = id
            self.key = key
            self.name = name
        }
    }

    /// Stops a program that pairs in a loop from making every connection slow; the oldest is forgotten first.
    static let limit = 1024
    /// Bytes of the file with all of them, each of the longest key and name.
    private static let byteLimit = limit * (PairedPlugs.idDigits + 2 * PublicKey.longest + PlugWire.maximumName + 3)
    private static let idDigits = 12
    private static let lockTries = 100
    private static let lockPause = Duration.milliseconds(50)

    private let directory: String
    private let files: FileStore

    /// - Parameter directory: nil for that of `TransportIdentity.ofThisController()`.
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
        var plugs: [Entry] = []
        let lines = String(decoding: bytes ?? [], as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            guard let plug = Entry(line: line) else { throw .damaged(path: path, line: index + 1) }
            plugs.append(plug)
        }
        return plugs
    }

    /// Pins the plug's key. One that is there already gets its new key and name.
    ///
    /// - Throws: ``PairedPlugsError``, or `CancellationError` while another program writes.
    public func add(_ plug: Entry) async throws {
        try await change { plugs in
            plugs.removeAll { $0.id == plug.id }
            plugs.append(plug)
        }
    }

    /// Forgets the plug; does nothing where it is not there.
    ///
    /// - Throws: as ``add(_:)``.
    public func remove(_ id: PlugID) async throws {
        try await change { plugs in plugs.removeAll { $0.id == id } }
    }

    /// Under a lock: two programs that pair at the same moment would else lose one of the plugs.
    private func change(_ work: (inout [Entry]) -> Void) async throws {
        let lock = try await takeLock()
        defer { withExtendedLifetime(lock) {} }
        var plugs = try all()
        work(&plugs)
        let text = plugs.suffix(Self.limit).map { $0.line + "\n" }.joined()
        do throws(FileError) {
            try files.replaceSecret(path, with: Array(text.utf8))
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

    public var description: String {
        switch self {
        case .unusable(let error): error.hint.map { "\(error)\nhint: \($0)" } ?? "\(error)"
        case .damaged(let path, let line):
            """
            \(path) line \(line) is damaged: expected a plug's id, its key in hexadecimal digits and its name
            hint: mend or remove that line; a plug that is lost with it is paired anew with `plugctl pair`
            """
        }
    }
}

extension PairedPlugs.Entry {
    /// The id, the key's bytes in hexadecimal digits, and the name, which may hold spaces.
    fileprivate var line: String {
        let digits = key.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(id) \(digits) \(name.filter { !$0.isNewline })"
    }

    fileprivate init?(line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count == 3, let id = PlugID(rawValue: String(words[0])) else { return nil }
        let digits = words[1].compactMap(\.hexDigitValue)
        guard digits.count == words[1].count, digits.count.isMultiple(of: 2) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        guard let key = PublicKey(bytes: bytes) else { return nil }
        self.init(id: id, key: key, name: String(words[2]))
    }
}
