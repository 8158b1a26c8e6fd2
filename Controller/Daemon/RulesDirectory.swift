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
    ///   - paths: files, and directories whose `.yaml`, `.yml` and `.lua` files count.
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
    private let find: @Sendable ([String]) -> RuleFileLook
    private let patience: Patience

    /// - Parameters:
    ///   - patience: how long the file systems may take.
    ///   - find: looks at them.
    init(
        _ paths: [String], patience: Patience = .ofFiles,
        find: @escaping @Sendable ([String]) -> RuleFileLook = RuleFileLook.init(at:)
    ) {
        (self.paths, self.patience, self.find) = (paths, patience, find)
    }

    /// Where a file system does not answer, the paths themselves: what was read of them before goes on, and the reason is told.
    func look() -> RuleFileLook {
        let (paths, find) = (paths, find)
        return patience.within { find(paths) } ?? RuleFileLook(unanswered: paths)
    }
}

/// What one look finds.
struct RuleFileLook: Sendable {
    /// Stops a directory of anything else from filling the memory.
    private static let maximumNames = 1 << 16

    /// In their order, each once.
    let files: [String]
    let stamps: RuleFileWatch.Look
    /// Of paths that are not to be read, with what is wrong with them.
    let faults: [(path: String, words: String)]

    init(at paths: [String]) {
        var files: [String] = []
        var known: Set<String> = []
        var faults: [(path: String, words: String)] = []
        for path in paths {
            let isDirectory = FileStamp(of: path)?.isDirectory == true
            let (found, isWhole) = isDirectory ? Self.files(inDirectory: path) : ([path], true)
            let new = found.filter { known.insert($0).inserted }
            let room = RuleFileShelf.maximumFiles - files.count
            files += new.prefix(room)
            guard new.count > room || !isWhole else { continue }
            faults.append(
                (
                    path,
                    """
                    \(path): the rule files after \(files.last ?? path) are not read: there may be \(RuleFileShelf.maximumFiles) in all
                    hint: put rules that belong together into one file
                    """
                ))
        }
        self.files = files
        // A directory's own stamp changes also with files that are none of ours, such as an editor's.
        stamps = Dictionary(files.map { ($0, FileStamp(of: $0)) }) { first, _ in first }
        self.faults = faults
    }

    init(unanswered paths: [String]) {
        files = []
        stamps = Dictionary(paths.map { ($0, nil) }) { first, _ in first }
        faults = paths.map { path in
            let error = FileError(.read, path, .late)
            return (path, "\(error)\nhint: \(error.hint ?? "")")
        }
    }

    func readings(by read: (String) -> RuleFileReading) -> [(path: String, reading: RuleFileReading)] {
        files.map { ($0, read($0)) } + faults.map { ($0.path, .broken($0.words)) }
    }

    /// - Returns: the rule files, and whether all names in the directory were looked at.
    private static func files(inDirectory path: String) -> (files: [String], isWhole: Bool) {
        // One that nobody may read is said by reading it as a file.
        guard let names = FileStamp.names(in: path, limit: maximumNames) else { return ([path], true) }
        let rules = names.filter { name in [".yaml", ".yml", ".lua"].contains(where: name.hasSuffix) }
        return (rules.map { path + "/" + $0 }, names.count < maximumNames)
    }
}
