import LinuxSystem
import NIOPosix

/// Rule files and directories of rule files, which are read again on each change. ``RuleFileWatch`` detects the
/// changes, and ``RuleFileCache`` keeps the last valid versions.
public actor RulesDirectory {
    /// The interval between two checks of the files.
    private static let interval = Duration.seconds(1)

    private nonisolated let files: RuleFileWatcher
    private nonisolated let read: @Sendable (String) -> RuleFileReading
    private var shelf = RuleFileCache()
    private var watch: RuleFileWatch
    /// The content of the files at the last reading.
    public private(set) var current: RuleFileSet
    private var readings: [Reading]

    /// A file, or a directory that could not be read, and the result of reading it.
    public struct Reading: Sendable {
        /// The path.
        public var path: String
        /// The result.
        public var reading: RuleFileReading

        /// Creates a reading from its parts.
        public init(path: String, reading: RuleFileReading) { (self.path, self.reading) = (path, reading) }
    }

    /// The result of the last reading of each file, in the order of the files, and the faults of the files whose content
    /// is not active.
    public var contents: (readings: [Reading], faults: [RuleFileFault]) { (readings, current.faults) }

    /// The files and directories that are followed.
    public nonisolated var paths: [String] { files.paths }
    /// True if a missing path is not a fault.
    public nonisolated let mayBeMissing: Bool

    /// Reads all files. If a file system does not answer, the initializer blocks until the timeout.
    ///
    /// - Parameters:
    ///   - paths: Files, and directories of which the visible `.yaml`, `.yml` and `.lua` files are read.
    ///   - mayBeMissing: True if a missing path is not a fault. Its rules are read when it appears.
    ///   - read: Parses the file at a path. Called on any thread.
    public init(
        _ paths: [String], mayBeMissing: Bool = false, read: @escaping @Sendable (String) -> RuleFileReading
    ) {
        let files = RuleFileWatcher(paths) { RulePathLook(at: $0, mayBeMissing: mayBeMissing) }
        self.init(files, mayBeMissing: mayBeMissing, read: read)
    }

    init(
        _ files: RuleFileWatcher, mayBeMissing: Bool = false, read: @escaping @Sendable (String) -> RuleFileReading
    ) {
        self.files = files
        self.mayBeMissing = mayBeMissing
        self.read = read
        // The stamps are read before the files, so a change in between causes another reading.
        let look = files.look()
        watch = RuleFileWatch(look.stamps)
        let readings = look.readings(by: read)
        current = shelf.update(readings)
        self.readings = readings.map { Reading(path: $0.path, reading: $0.reading) }
    }

    /// Checks the files every second until the task is cancelled, and passes each changed set to `take`.
    public func follow(_ take: @Sendable (RuleFileSet) async -> Void) async {
        let (files, read) = (files, read)
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.interval)
                let look = try await NIOThreadPool.singleton.runIfActive { files.look() }
                guard watch.isChanged(look.stamps) else { continue }
                let readings = try await NIOThreadPool.singleton.runIfActive { look.readings(by: read) }
                current = shelf.update(readings)
                self.readings = readings.map { Reading(path: $0.path, reading: $0.reading) }
            } catch {
                // The task was cancelled, or the thread pool was shut down.
                return
            }
            await take(current)
        }
    }

    /// Returns all rule files at the paths, each once, and the faults of the paths. A missing file stays in the list,
    /// so that reading it reports the error.
    public static func files(in paths: [String]) -> (files: [String], faults: [String]) {
        let look = RuleFileWatcher(paths).look()
        return (look.files, look.faults.map(\.words))
    }
}

/// The paths of rule files and directories, which are examined with a timeout.
struct RuleFileWatcher: Sendable {
    let paths: [String]
    private let find: @Sendable (String) -> RulePathLook
    private let patience: FileSystemTimeout

    /// Creates the list of paths. Nothing is examined yet.
    ///
    /// - Parameters:
    ///   - paths: Files and directories.
    ///   - patience: The timeout of the file systems.
    ///   - find: Examines one path.
    init(
        _ paths: [String], patience: FileSystemTimeout = .ofFiles,
        find: @escaping @Sendable (String) -> RulePathLook = { RulePathLook(at: $0) }
    ) {
        (self.paths, self.patience, self.find) = (paths, patience, find)
    }

    /// Examines each path separately, so that a file system that does not answer affects only its own paths. Such a
    /// path is listed with the error, and the rules that were read from it stay active.
    func look() -> DirectorySnapshot {
        let find = find
        return DirectorySnapshot(
            paths.map { path in (path, patience.within(place: path) { find(path) } ?? RulePathLook(unanswered: path)) })
    }
}

/// The rule files at one path.
struct RulePathLook: Sendable {
    /// The maximum number of names read from a directory. Prevents a directory with other content from filling the
    /// memory.
    fileprivate static let maximumNames = 1 << 16

    /// The files in order, each with its stamp, up to one more than ``RuleFileCache/maximumFiles``.
    var files: [(path: String, stamp: FileStamp?)] = []
    /// False if the directory has ``maximumNames`` names or more.
    var isWhole = true
    /// The reason why the path could not be examined.
    var fault: String?

    /// Examines a file or a directory.
    ///
    /// - Parameter mayBeMissing: True if a missing path has no files. Otherwise it is listed as a file, so that reading
    ///   it reports the error.
    init(at path: String, mayBeMissing: Bool = false) {
        guard !mayBeMissing || FileStamp(of: path) != nil else { return }
        var found = [path]
        if FileStamp(of: path)?.isDirectory == true { (found, isWhole) = Self.files(inDirectory: path) }
        // A directory's own stamp is not used, because it also changes with other files, such as an editor's.
        files = found.prefix(RuleFileCache.maximumFiles + 1).map { ($0, FileStamp(of: $0)) }
    }

    /// The result for a path whose file system did not answer in time.
    init(unanswered path: String) {
        let error = FileError(.read, path, .late)
        fault = "\(error)\nhint: \(error.hint ?? "")"
    }

    /// Returns true if a file of a directory is a rule file. Hidden files are excluded, such as an editor's lock
    /// (`.#a.yaml`) or macOS attributes (`._a.yaml`). The extensions exclude the other files of editors: `a.yaml~`,
    /// `#a.yaml#`, `.a.yaml.swp`, `4913`.
    static func isRuleFile(_ name: String) -> Bool {
        !name.hasPrefix(".") && [".yaml", ".yml", ".lua"].contains(where: name.hasSuffix)
    }

    /// Lists a directory.
    ///
    /// - Returns: The rule files, and false if the limit of names was reached.
    private static func files(inDirectory path: String) -> (files: [String], isWhole: Bool) {
        // An unreadable directory is treated as a file, so that reading it reports the error.
        guard let names = FileStamp.names(in: path, limit: maximumNames) else { return ([path], true) }
        return (names.filter(isRuleFile).map { path + "/" + $0 }, names.count < maximumNames)
    }
}

/// The result of examining all paths.
struct DirectorySnapshot: Sendable {
    /// The rule files in order, each once.
    let files: [String]
    let stamps: RuleFileWatch.Look
    /// The paths that could not be read completely, with a message for each.
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
            let room = RuleFileCache.maximumFiles - files.count
            for (file, stamp) in new.prefix(room) where stamps[file] == nil {
                stamps[file] = .some(stamp)
                files.append(file)
            }
            if new.count > room {
                faults.append(
                    (
                        path,
                        """
                        \(path): the rule files after \(files.last ?? path) are not read, because at most \(RuleFileCache.maximumFiles) are allowed
                        hint: put related rules into one file
                        """
                    ))
            } else if !look.isWhole {
                faults.append(
                    (
                        path,
                        """
                        \(path): only the first \(RulePathLook.maximumNames) names are read, so some rule files may be missing
                        hint: move other files out of this directory
                        """
                    ))
            }
        }
        (self.files, self.stamps, self.faults) = (files, stamps, faults)
    }

    /// Reads all files, and adds a reading for each fault.
    func readings(by read: (String) -> RuleFileReading) -> [(path: String, reading: RuleFileReading)] {
        files.map { ($0, read($0)) } + faults.map { ($0.path, .broken($0.words)) }
    }
}
