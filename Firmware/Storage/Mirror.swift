import Appliance
import DurableFiles
import PlugModel

/// The mirror's file: a log that is written anew once it has grown to twice what it needs.
struct Mirror {
    /// Below this many bytes the log is not worth writing anew.
    private static let smallest = 1 << 18
    /// Bytes that are read at a start: far more than any plug writes. It stops a wrong file from filling the memory.
    private static let readLimit = 1 << 24
    /// Bytes handed to the kernel at a time where everything is written.
    private static let piece = 1 << 16

    private let directory: String
    let path: String
    private let files: FileStore
    private var file: AppendingFile?
    private var encoder = MirrorEncoder()
    private var lengthLimit = 0
    /// A file of this boot may be left that is not the truth: it could be neither removed nor emptied.
    private(set) var isStale = false
    /// Since the last attempt to leave nothing in the file nothing was written to it.
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

    /// Does nothing while the mirror is not open: ``rewrite(_:boot:id:)`` will write everything.
    mutating func append(_ records: [MirrorRecord]) throws(FileError) {
        guard let file else { return }
        encoder.clear()
        for record in records { encoder.append(record) }
        try file.append(encoder.bytes)
    }

    /// Begins a new file with everything that the plug remembers, in the place of the old one.
    mutating func rewrite(_ memory: PlugMemory, boot: BootID, id: PlugID) throws(FileError) {
        let replacement = path + ".new"
        // It may have been impossible to make at the start.
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
            // The space it takes may be what is missing.
            try? files.removeIfPresent(replacement)
            throw error
        }
    }

    /// Where not everything could be written: the file must not be taken for the truth after a restart.
    mutating func abandon() {
        do throws(FileError) {
            do throws(FileError) {
                try files.removeIfPresent(path)
            } catch {
                // One that cannot be removed can perhaps be emptied.
                guard let file else { throw error }
                try file.truncate(to: 0)
            }
            isStale = false
        } catch {
            // What was emptied once stays so.
            if isOpen || !isAbandoned { isStale = true }
        }
        (file, isAbandoned) = (nil, true)
    }

    /// The file stays, although it did not become shorter: it is tried again when it has grown.
    mutating func postpone() { lengthLimit += lengthLimit / 2 }
}
