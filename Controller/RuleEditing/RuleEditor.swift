import Crypto
public import Daemon
public import Effects
public import HouseCalendar
import LinuxSystem
import RuleFiles
import RuleModel
import Synchronization

/// The rule files that the daemon follows, for an editor: it lists, reads, checks and changes them.
///
/// All methods except ``snapshot()`` block while they access files.
public final class RuleEditor: Sendable {
    /// The maximum size in bytes of a text that the editor checks or writes. A file of a hundred rules has about 20 KiB.
    public static let textLimit = 64 << 10
    /// The maximum size in bytes of a file that is read.
    static let readLimit = 1 << 20
    /// The maximum number of characters of a new file's name.
    private static let nameLimit = 64
    static let nameHint =
        "at most \(nameLimit) characters: letters without accents, digits, - and _, then .yaml"

    /// True if the daemon was started with permission to edit rule files.
    public let mayEdit: Bool
    let policy: EffectPolicy
    let daylight: Daylight?
    private let directory: RulesDirectory
    private let disk = FileStore()
    /// Serializes the changes, so that the comparison with the read version and the write are one step.
    private let changes = Mutex(())

    /// Creates an editor. No file is accessed yet.
    ///
    /// - Parameters:
    ///   - directory: the files that the daemon follows.
    ///   - mayEdit: false if the editor only reads and checks.
    ///   - policy: the policy for effects of rules outside of the house.
    ///   - daylight: the location of the house; nil if it is unknown.
    public init(_ directory: RulesDirectory, mayEdit: Bool, policy: EffectPolicy, daylight: Daylight?) {
        (self.directory, self.mayEdit, self.policy, self.daylight) = (directory, mayEdit, policy, daylight)
    }

    // MARK: Files

    /// The content of all files when the daemon last read them.
    public struct Snapshot: Sendable {
        var readings: [RulesDirectory.Reading]
        var faults: [RuleFileFault]
    }

    /// Returns the content of all files when the daemon last read them.
    public func snapshot() async -> Snapshot {
        let (readings, faults) = await directory.contents
        return Snapshot(readings: readings, faults: faults)
    }

    /// A rule file or a script.
    public struct File: Hashable, Sendable {
        /// The name of the file, without its directory.
        public var name: String
        /// The path of the file.
        public var path: String
        /// True for a script.
        public var isScript: Bool
        /// The names of the file's rules when the daemon last read it.
        public var rules: [String] = []
        /// The reason why the present content is not active; nil if it is active.
        public var fault: String?
        /// The reason why the editor cannot change this file; nil if it can.
        public var obstacle: String?
        /// The permissions of the file, 0o777 at most.
        var permissions: UInt32
    }

    /// Returns the existing rule files and scripts, in the order in which the daemon reads them.
    public func files(_ snapshot: Snapshot) -> [File] {
        let found = RulesDirectory.files(in: directory.paths).files.compactMap { file(at: $0, snapshot) }
        let counts = Dictionary(found.map { ($0.name, 1) }, uniquingKeysWith: +)
        return found.map { file in
            var file = file
            if counts[file.name, default: 1] > 1 { file.obstacle = "several rule files have this name" }
            return file
        }
    }

    private func file(at path: String, _ snapshot: Snapshot) -> File? {
        guard let entry = DirectoryEntry(of: path), entry.kind != .directory else { return nil }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var file = File(name: name, path: path, isScript: name.hasSuffix(".lua"), permissions: entry.permissions)
        file.rules = snapshot.readings.first { $0.path == path }.map { $0.reading.rules.map(\.name) } ?? []
        file.fault = snapshot.faults.first { $0.path == path }?.words
        if file.isScript {
            file.obstacle = "it is a script"
        } else if entry.kind != .regular {
            // A replacement would remove the link and not change the file to which it leads.
            file.obstacle = "it is a link or not a regular file"
        } else if entry.bytes > Self.textLimit {
            file.obstacle = "it has more than \(Self.textLimit) bytes"
        }
        return file
    }

    func file(named name: String, _ snapshot: Snapshot) throws(RuleEditError) -> File {
        let found = files(snapshot).filter { $0.name == name }
        guard let file = found.first else { throw .unknown(name) }
        guard found.count == 1 else { throw .ambiguous(name) }
        return file
    }

    /// The text of a file and its version.
    public struct Content: Hashable, Sendable {
        /// The file.
        public var file: File
        /// The complete text.
        public var text: String
        /// The version, which differs for each text.
        public var version: String

        init(_ file: File, _ text: String) {
            (self.file, self.text) = (file, text)
            let hash = SHA256.hash(data: Array(text.utf8))
            version = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    /// Reads a file.
    ///
    /// - Parameter name: the name of the file, without its directory.
    public func read(_ name: String, _ snapshot: Snapshot) throws(RuleEditError) -> Content {
        let file = try file(named: name, snapshot)
        do throws(FileError) {
            return Content(file, try disk.readText(file.path, limit: Self.readLimit))
        } catch {
            throw .file(error)
        }
    }

    /// The directory in which new files are created; nil if the daemon follows only single files.
    public var newFiles: String? {
        directory.paths.first { path in
            FileSystemTimeout.ofFiles.within(place: path) {
                FileStamp(of: path).map(\.isDirectory) ?? self.directory.mayBeMissing
            } ?? false
        }
    }

    // MARK: Changes

    /// Replaces the text of a file.
    ///
    /// - Parameter version: the version that the user has edited.
    /// - Returns: the new content.
    public func write(
        _ text: String, to name: String, replacing version: String, in context: RuleCheckContext, _ snapshot: Snapshot
    ) throws(RuleEditError) -> Content {
        try change { () throws(RuleEditError) in
            let old = try editable(name, version, snapshot)
            try accept(text, name, in: context, snapshot)
            try store(text, at: old.file.path, mode: old.file.permissions)
            return Content(old.file, text)
        }
    }

    /// Creates a file in the first directory that the daemon follows.
    ///
    /// - Parameter name: letters without accents, digits, `-` and `_`, and the extension `.yaml` or `.yml`.
    public func create(
        _ name: String, _ text: String, in context: RuleCheckContext, _ snapshot: Snapshot
    ) throws(RuleEditError) -> Content {
        try change { () throws(RuleEditError) in
            guard Self.isValid(newName: name) else { throw .invalidName }
            guard let folder = newFiles else { throw .noDirectory }
            let path = folder + "/" + name
            guard DirectoryEntry(of: path) == nil, !files(snapshot).contains(where: { $0.name == name }) else {
                throw .exists(name)
            }
            try accept(text, name, in: context, snapshot)
            do throws(FileError) { try disk.makeDirectories(folder) } catch { throw .file(error) }
            try store(text, at: path, mode: 0o644)
            return Content(File(name: name, path: path, isScript: false, permissions: 0o644), text)
        }
    }

    /// Removes a file and its rules.
    ///
    /// - Parameter version: the version that the user has read.
    public func remove(_ name: String, version: String, _ snapshot: Snapshot) throws(RuleEditError) {
        try change { () throws(RuleEditError) in
            let old = try editable(name, version, snapshot)
            do throws(FileError) { try disk.removeIfPresent(old.file.path) } catch { throw .file(error) }
        }
    }

    private func change<Answer: Sendable>(
        _ body: () throws(RuleEditError) -> Answer
    ) throws(RuleEditError) -> Answer {
        guard mayEdit else { throw .off }
        return try changes.withLock { _ throws(RuleEditError) in try body() }
    }

    private func editable(
        _ name: String, _ version: String, _ snapshot: Snapshot
    ) throws(RuleEditError) -> Content {
        let old = try read(name, snapshot)
        if let obstacle = old.file.obstacle { throw .readOnly(name, reason: obstacle) }
        guard old.version == version else { throw .changed(name) }
        return old
    }

    private func accept(
        _ text: String, _ name: String, in context: RuleCheckContext, _ snapshot: Snapshot
    ) throws(RuleEditError) {
        let found = try check(text, as: name, in: context, snapshot)
        if found.contains(where: { $0.severity == .error }) { throw .faulty(found) }
    }

    private func store(_ text: String, at path: String, mode: UInt32) throws(RuleEditError) {
        do throws(FileError) {
            try disk.replace(path, with: Array(text.utf8), mode: mode)
        } catch {
            throw .file(error)
        }
    }

    private static func isValid(newName name: String) -> Bool {
        guard let dot = name.lastIndex(of: "."), [".yaml", ".yml"].contains(name[dot...]) else { return false }
        let stem = name[..<dot]
        return !stem.isEmpty && name.utf8.count <= nameLimit
            && stem.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
