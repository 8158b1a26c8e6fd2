import DurableFiles
import NIOPosix

/// Rule files, and directories of them, that are read anew whenever they change: the shell of ``RuleFileWatch`` and
/// ``RuleFileShelf``.
public actor RulesDirectory {
    private static let interval = Duration.seconds(1)

    private nonisolated let paths: [String]
    private nonisolated let read: @Sendable (String) -> RuleFileReading
    private var shelf = RuleFileShelf()
    private var watch: RuleFileWatch
    /// What stands in the files, as of the last reading.
    public private(set) var current: RuleFileSet

    /// Reads all of it, which blocks as long as the disk takes.
    ///
    /// - Parameters:
    ///   - paths: files, and directories whose `.yaml`, `.yml` and `.lua` files count.
    ///   - read: understands the file of a path; on whichever thread.
    public init(_ paths: [String], read: @escaping @Sendable (String) -> RuleFileReading) {
        self.paths = paths
        self.read = read
        // Looked at before it is read: what changes in between is read once more.
        let (look, readings) = Self.readings(of: paths, read)
        watch = RuleFileWatch(look)
        current = shelf.take(readings)
    }

    /// Looks once a second until the task is cancelled, and hands over what changed.
    public func follow(_ take: @Sendable (RuleFileSet) async -> Void) async {
        let (paths, read) = (paths, read)
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.interval)
                let look = try await NIOThreadPool.singleton.runIfActive { Self.look(at: paths) }
                guard watch.isChanged(look) else { continue }
                let readings = try await NIOThreadPool.singleton.runIfActive { Self.readings(of: paths, read).readings }
                current = shelf.take(readings)
            } catch {
                // Nobody runs any more who could read them.
                return
            }
            await take(current)
        }
    }

    private static func readings(
        of paths: [String], _ read: (String) -> RuleFileReading
    ) -> (look: RuleFileWatch.Look, readings: [(path: String, reading: RuleFileReading)]) {
        let look = look(at: paths)
        return (look, files(in: paths).map { ($0, read($0)) })
    }

    private static func look(at paths: [String]) -> RuleFileWatch.Look {
        // A directory's own stamp changes also with files that are none of ours, such as an editor's.
        Dictionary(files(in: paths).map { ($0, FileStamp(of: $0)) }) { first, _ in first }
    }

    /// Every rule file, each once. A path that leads nowhere stays in the list, so that reading it says what is wrong.
    public static func files(in paths: [String]) -> [String] {
        var files: [String] = []
        var known: Set<String> = []
        for path in paths {
            let found = FileStamp(of: path)?.isDirectory == true ? names(inDirectory: path) : [path]
            files += found.filter { known.insert($0).inserted }
        }
        return Array(files.prefix(RuleFileShelf.maximumFiles))
    }

    private static func names(inDirectory path: String) -> [String] {
        // One that nobody may read is said by reading it as a file.
        guard let names = FileStamp.names(in: path, limit: RuleFileShelf.maximumFiles) else { return [path] }
        return names.filter { name in [".yaml", ".yml", ".lua"].contains(where: name.hasSuffix) }.map {
            path + "/" + $0
        }
    }
}
