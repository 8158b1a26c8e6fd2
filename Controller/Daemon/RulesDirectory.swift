import DurableFiles
import NIOPosix

/// Rule files, and directories of them, that are read anew whenever they change: the shell of ``RuleFileWatch`` and
/// ``RuleFileShelf``.
public actor RulesDirectory {
    private static let interval = Duration.seconds(1)

    private nonisolated let files: LookedAtFiles
    private nonisolated let read: @Sendable (String) -> RuleFileReading
    private var shelf = RuleFileShelf()
    private var watch: RuleFileWatch
    /// What stands in the files, as of the last reading.
    public private(set) var current: RuleFileSet

    /// Reads all of it, which blocks for a while at most where a disk does not answer.
    ///
    /// - Parameters:
    ///   - paths: files, and directories, of which the `.yaml`, `.yml` and `.lua` files that are not hidden are read.
    ///   - read: understands the file of a path; on whichever thread.
    public init(_ paths: [String], read: @escaping @Sendable (String) -> RuleFileReading) {
        self.init(LookedAtFiles(paths), read: read)
    }

    init(_ files: LookedAtFiles, read: @escaping @Sendable (String) -> RuleFileReading) {
        self.files = files
        self.read = read
        // Looked at before it is read: what changes in between is read once more.
        let look = files.look()
        watch = RuleFileWatch(look.stamps)
        current = shelf.take(look.readings(by: read))
    }

    /// Looks once a second until the task is cancelled, and hands over what changed.
    public func follow(_ take: @Sendable (RuleFileSet) async -> Void) async {
        let (files, read) = (files, read)
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.interval)
                let look = try await NIOThreadPool.singleton.runIfActive { files.look() }
                guard watch.isChanged(look.stamps) else { continue }
                let readings = try await NIOThreadPool.singleton.runIfActive { look.readings(by: read) }
                current = shelf.take(readings)
            } catch {
                // Nobody runs any more who could read them.
                return
            }
            await take(current)
        }
    }

    /// Every rule file, each once, and what is wrong with the paths. One that leads nowhere stays in the list, so that reading it says
    /// what is wrong.
    public static func files(in paths: [String]) -> (files: [String], faults: [String]) {
        let look = LookedAtFiles(paths).look()
        return (look.files, look.faults.map(\.words))
    }
}

/// Rule files, and directories of them, as they are found by name.
struct LookedAtFiles: Sendable {
    private let paths: [String]
    private let find: @Sendable (String) -> RulePathLook
    private let patience: Patience

    /// - Parameters:
    ///   - patience: how long the file systems may take.
    ///   - find: looks at one of the paths.
    init(
        _ paths: [String], patience: Patience = .ofFiles,
        find: @escaping @Sendable (String) -> RulePathLook = RulePathLook.init(at:)
    ) {
        (self.paths, self.patience, self.find) = (paths, patience, find)
    }

    /// Looks at each path for itself, so that a file system that does not answer affects only its own paths. Of such a path the look
    /// has the path itself and the reason: the rules that were read from it before stay.
    func look() -> RuleFileLook {
        let find = find
        return RuleFileLook(
            paths.map { path in (path, patience.within(place: path) { find(path) } ?? RulePathLook(unanswered: path)) })
    }
}

/// The rule files that a look finds at one path.
struct RulePathLook: Sendable {
    /// Stops a directory of anything else from filling the memory.
    private static let maximumNames = 1 << 16

    /// The files in their order, without those beyond ``RuleFileShelf/maximumFiles``, each with its stamp.
    var files: [(path: String, stamp: FileStamp?)] = []
    /// False if the directory has more files or names than are read.
    var isWhole = true
    /// The reason why the path was not read.
    var fault: String?

    init(at path: String) {
        var found = [path]
        if FileStamp(of: path)?.isDirectory == true { (found, isWhole) = Self.files(inDirectory: path) }
        if found.count > RuleFileShelf.maximumFiles { isWhole = false }
        // A directory's own stamp changes also with files that are none of ours, such as an editor's.
        files = found.prefix(RuleFileShelf.maximumFiles).map { ($0, FileStamp(of: $0)) }
    }

    init(unanswered path: String) {
        let error = FileError(.read, path, .late)
        fault = "\(error)\nhint: \(error.hint ?? "")"
    }

    /// Whether a file of a directory is read. Hidden files are not the user's: an editor's lock (`.#a.yaml`), the attributes that
    /// macOS stores (`._a.yaml`). The endings leave out the other files of editors: `a.yaml~`, `#a.yaml#`, `.a.yaml.swp`, `4913`.
    static func isRuleFile(_ name: String) -> Bool {
        !name.hasPrefix(".") && [".yaml", ".yml", ".lua"].contains(where: name.hasSuffix)
    }

    /// - Returns: the rule files, and whether all names in the directory were looked at.
    private static func files(inDirectory path: String) -> (files: [String], isWhole: Bool) {
        // One that nobody may read is said by reading it as a file.
        guard let names = FileStamp.names(in: path, limit: maximumNames) else { return ([path], true) }
        return (names.filter(isRuleFile).map { path + "/" + $0 }, names.count < maximumNames)
    }
}

/// What one look finds.
struct RuleFileLook: Sendable {
    /// In their order, each once.
    let files: [String]
    let stamps: RuleFileWatch.Look
    /// Of paths that are not to be read, with what is wrong with them.
    let faults: [(path: String, words: String)]

    init(_ looks: [(path: String, look: RulePathLook)]) {
        var files: [String] = []
        var stamps: RuleFileWatch.Look = [:]
        var faults: [(path: String, words: String)] = []
        for (path, look) in looks {
            if let fault = look.fault {
                stamps[path] = .some(nil)
                faults.append((path, fault))
                continue
            }
            let new = look.files.filter { stamps[$0.path] == nil }
            let room = RuleFileShelf.maximumFiles - files.count
            for (file, stamp) in new.prefix(room) where stamps[file] == nil {
                stamps[file] = .some(stamp)
                files.append(file)
            }
            guard new.count > room || !look.isWhole else { continue }
            faults.append(
                (
                    path,
                    """
                    \(path): the rule files after \(files.last ?? path) are not read: there may be \(RuleFileShelf.maximumFiles) in all
                    hint: put rules that belong together into one file
                    """
                ))
        }
        (self.files, self.stamps, self.faults) = (files, stamps, faults)
    }

    func readings(by read: (String) -> RuleFileReading) -> [(path: String, reading: RuleFileReading)] {
        files.map { ($0, read($0)) } + faults.map { ($0.path, .broken($0.words)) }
    }
}
