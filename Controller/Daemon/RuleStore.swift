public import DurableRules
public import LinuxSystem
import PlugModel
import Synchronization

/// Stores the state of the running rules that the next process needs, in one file. Only one process at a time uses the
/// directory.
public final class RuleStore: Sendable {
    /// The state that the previous process stored; empty on the first start, and if the file cannot be read.
    public let memory: StoredRuleState
    /// The request id cipher of this house, whose secret is stored in the directory.
    let cipher: RequestIDCipher
    /// The directory. All its files belong to the daemon.
    public let directory: String
    /// The path of the secret for request ids. No other program should read it.
    public let secretPath: String
    private let path: String
    private let files: FileStore
    /// Held until ``giveBack()`` or deinitialization.
    private let lock: Mutex<DirectoryLock?>
    private let boot: BootID
    private let written: Mutex<Written>

    private struct Written {
        /// The checksum at the end of the file, which an entry of the reserve contains; nil if the file is missing.
        var file: [UInt8]?
        /// The reserved space; nil if the disk had no room for it.
        var reserve: MemoryReserve?
    }

    /// The result of storing the state.
    struct Outcome {
        /// A description of the part that did not fit; nil if everything is stored.
        var missing: String?
        /// The error because of which the state is in the reserve; nil if the state is in its file.
        var diskError: FileError?
    }

    /// Creates the directory if it is missing, locks it and reads its file. A damaged file is renamed to
    /// `rules.damaged`, and the rules begin with an empty state.
    ///
    /// - Parameters:
    ///   - directory: The directory's path.
    ///   - files: The file system; tests pass a simulated one.
    ///   - complain: Receives messages for the user, with a `hint:` line.
    /// - Throws: `FileError` if another process has locked the directory, or if it cannot be written.
    public init(_ directory: String, files: FileStore = FileStore(), complain: (String) -> Void) throws(FileError) {
        try files.requireAnswer(of: directory)
        try files.makeDirectories(directory)
        let held = try DirectoryLock(directory, store: files)
        lock = Mutex(held)
        self.directory = directory
        path = directory + "/rules"
        self.files = files
        boot = Self.currentBoot()
        secretPath = directory + "/secret"
        cipher = RequestIDCipher(secret: try Self.secret(secretPath, files))
        var last = Written(reserve: MemoryReserve(in: directory))
        memory = Self.read(path, &last, at: Self.moment(boot), files, complain) ?? StoredRuleState()
        written = Mutex(last)
    }

    /// Replaces the stored state, or writes it into the reserve if the file cannot be replaced. Blocks, and returns
    /// after the state is durable.
    ///
    /// - Throws: the disk's error if the write into the reserve also fails.
    func write(_ memory: StoredRuleState) throws(FileError) -> Outcome {
        let (bytes, missing) = memory.stored(at: Self.moment(boot))
        do throws(FileError) {
            try files.replace(path, with: bytes)
            written.withLock { $0.file = Array(bytes.suffix(MemoryReserve.sealLength)) }
            return Outcome(missing: missing)
        } catch {
            let isReserved = written.withLock { last in
                let file = last.file
                return (try? last.reserve?.store(bytes, after: file)) != nil
            }
            guard isReserved else { throw error }
            return Outcome(missing: missing, diskError: error)
        }
    }

    /// Reads the secret, or creates it on first use. A truncated secret is replaced; a running command may then be
    /// executed twice.
    private static func secret(_ path: String, _ files: FileStore) throws(FileError) -> [UInt8] {
        let length = RequestIDCipher.secretLength
        if let known = try files.readSecretIfPresent(path, limit: length), known.count == length { return known }
        let new = (0..<length).map { _ in UInt8.random(in: .min ... .max) }
        try files.replaceSecret(path, with: new)
        return new
    }

    /// Releases the lock of the directory. The caller must not write afterwards.
    func giveBack() { lock.withLock { $0 = nil } }

    private static func read(
        _ path: String, _ last: inout Written, at moment: HostMoment, _ files: FileStore, _ complain: (String) -> Void
    ) -> StoredRuleState? {
        let damage: String
        do throws(FileError) {
            let bytes = try files.readIfPresent(path, limit: StoredRuleState.sizeLimit)
            last.file = bytes.map { Array($0.suffix(MemoryReserve.sealLength)) }
            for reserved in last.reserve?.memories(after: bytes) ?? [] {
                if let memory = try? StoredRuleState(decoding: reserved, at: moment) { return memory }
            }
            guard let bytes else { return nil }
            do throws(StateDecodingError) {
                return try StoredRuleState(decoding: bytes, at: moment)
            } catch {
                damage = "\(path) is damaged: \(error)"
            }
        } catch {
            damage = "\(error)"
        }
        let loss = "the rules start with new state, and events from the time before this start are skipped"
        last.file = nil
        do throws(FileError) {
            try files.rename(path, to: path + ".damaged")
            complain("\(damage); \(loss)\nhint: no action is required; the file is kept as \(path).damaged")
        } catch {
            complain("\(damage); \(loss)\nhint: the file could not be set aside either: \(error)")
        }
        return nil
    }

    private static func moment(_ boot: BootID) -> HostMoment {
        HostMoment(
            boot: boot, instant: BootClock.now, nanosecondsSince1970: WallTime.now.nanosecondsSince1970)
    }

    /// Returns the id of the host's boot. Without /proc, every start counts as a separate boot.
    private static func currentBoot() -> BootID {
        let bytes = BootIdentifier.current() ?? (0..<16).map { _ in .random(in: .min ... .max) }
        guard let boot = BootID(bytes: bytes) else { preconditionFailure("a boot's identifier has 16 bytes") }
        return boot
    }
}
