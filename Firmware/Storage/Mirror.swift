import Appliance
import LinuxSystem
import PlugModel

/// The mirror's file: a log that is rewritten when it has grown to twice its necessary size.
struct Mirror {
    /// The size in bytes below which the log is not rewritten.
    private static let smallest = 1 << 18
    /// The limit of bytes that are read at start, far more than any plug writes. It prevents a wrong file from filling
    /// the memory.
    private static let readLimit = 1 << 24
    /// The size of a single write in bytes during a rewrite.
    private static let piece = 1 << 16

    private let directory: String
    let path: String
    private let files: FileStore
    private var file: AppendingFile?
    private var encoder = MirrorEncoder()
    private var lengthLimit = 0
    /// True if an outdated file of this boot may remain, because it could neither be removed nor truncated.
    private(set) var isStale = false
    /// True if nothing was written to the file since the last attempt to remove or truncate it.
    private var isAbandoned = false

    init(in directory: String, files: FileStore) {
        self.directory = directory
        path = Self.path(in: directory)
        self.files = files
    }

    static func path(in directory: String) -> String { directory + "/mirror" }

    /// False before the first ``rewrite(_:boot:id:)`` and after a failure.
    var isOpen: Bool { file != nil }
    var isTooLong: Bool { file.map { $0.length > lengthLimit } ?? false }

    func bytes() throws(FileError) -> [UInt8]? { try files.readIfPresent(path, limit: Self.readLimit) }

    /// Appends records. Does nothing while the mirror is not open, since ``rewrite(_:boot:id:)`` will write everything.
    mutating func append(_ records: [MirrorRecord]) throws(FileError) {
        guard let file else { return }
        encoder.clear()
        for record in records { encoder.append(record) }
        try file.append(encoder.bytes)
    }

    /// Replaces the file with a new one that contains everything the plug remembers.
    mutating func rewrite(_ memory: PlugMemory, boot: BootID, id: PlugID) throws(FileError) {
        let replacement = path + ".new"
        // Creating the directory may have failed when plugd started.
        try files.makeDirectories(directory)
        try files.removeIfPresent(replacement)
        do throws(FileError) {
            let new = try AppendingFile(replacement, durability: .process, store: files)
            var encoder = MirrorEncoder()
            encoder.append(.begins(boot, id))
            for record in memory.records {
                encoder.append(record)
                guard encoder.bytes.count >= Self.piece else { continue }
                try new.append(encoder.bytes)
                encoder.clear()
            }
            try new.append(encoder.bytes)
            try new.rename(to: path)
            file = new
            (isStale, isAbandoned) = (false, false)
            lengthLimit = max(Self.smallest, 2 * new.length)
        } catch {
            // The incomplete replacement may use the space that other files need.
            try? files.removeIfPresent(replacement)
            throw error
        }
    }

    /// Removes or truncates the file after a failed write, so that the next process does not trust it.
    mutating func abandon() {
        do throws(FileError) {
            do throws(FileError) {
                try files.removeIfPresent(path)
            } catch {
                // If the file cannot be removed, truncating it may succeed.
                guard let file else { throw error }
                try file.truncate(to: 0)
            }
            isStale = false
        } catch {
            // If nothing was written since an earlier attempt, the result of that attempt still applies.
            if isOpen || !isAbandoned { isStale = true }
        }
        (file, isAbandoned) = (nil, true)
    }

    /// Keeps the file after a failed rewrite. The rewrite is tried again when the file has grown.
    mutating func postpone() { lengthLimit += lengthLimit / 2 }
}
