public import LinuxSystem
public import PlugModel

/// Stores across restarts which event of each plug a program has processed last.
///
/// The number is written after the event took effect. If the program is killed between the effect and the write, it
/// processes the event again after its restart. No event is missed. If an effect must happen exactly once,
/// store the number in the same write as the effect instead of using this class.
public actor CursorMemory {
    /// The interval between writes. It limits the writes during a burst of events to ten per second.
    private static let pause = Duration.milliseconds(100)
    /// The number of tries to write the last numbers while another program holds the lock of the directory.
    private static let lastTries = 20

    /// The number of each plug's last processed event, as stored in the file at the last read or write of this object.
    public var known: [PlugID: SequenceNumber] { list.numbers }

    private let directory: String
    private let files: FileStore
    private let complain: @Sendable (FileError) -> Void
    private var list: CursorList
    /// The numbers that are not in the file yet.
    private var unwritten: [PlugID: SequenceNumber] = [:]
    /// The id of the plug that last connected under each name.
    private var bearers: [String: PlugID] = [:]
    private var writing: Task<Void, Never>?
    private var hasComplained = false

    private var path: String { directory + "/cursors" }

    /// Reads the stored numbers. Creates the directory if it is missing. Several programs may use the same directory.
    ///
    /// - Parameters:
    ///   - directory: The directory of the file `cursors`. Only programs that use this class should write there.
    ///   - files: The file system; tests pass a simulated one.
    ///   - complain: Receives the error of the first write that fails. Later writes are still tried.
    /// - Throws: `FileError` if the directory cannot be created or read.
    public init(
        _ directory: String, files: FileStore = FileStore(), complain: @escaping @Sendable (FileError) -> Void
    ) throws(FileError) {
        self.directory = directory
        self.files = files
        self.complain = complain
        try files.makeDirectories(directory)
        list = CursorList(try files.readIfPresent(directory + "/cursors", limit: CursorList.byteLimit) ?? [])
    }

    /// Stores the progress that this report represents. Call it after the report took effect.
    public func took(_ report: PlugReport) {
        switch report.update {
        case .connected(let plug): bearers[report.plug] = plug.id
        case .following(let sequence): remember(sequence, of: report.plug)
        case .event(let event, _): remember(event.sequence, of: report.plug)
        case .gap(let gap): remember(gap.to, of: report.plug)
        case .snapshot, .state, .log, .disconnected: break
        }
    }

    /// Writes the numbers that are not in the file yet. Call it after the last report.
    public func finish() async {
        writing?.cancel()
        await writing?.value
        // Another program holds the lock only while it writes, so a few tries suffice.
        for _ in 0..<Self.lastTries {
            if write() { break }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func remember(_ sequence: SequenceNumber, of name: String) {
        guard let plug = bearers[name] else { return }
        unwritten[plug] = sequence
        guard writing == nil else { return }
        writing = Task {
            while !unwritten.isEmpty, !Task.isCancelled {
                write()
                try? await Task.sleep(for: Self.pause)
            }
            writing = nil
        }
    }

    /// Merges the numbers into the current file, because other programs may have written the numbers of other plugs.
    ///
    /// - Returns: false if another program holds the lock. The next write tries again.
    @discardableResult private func write() -> Bool {
        guard !unwritten.isEmpty else { return true }
        do throws(FileError) {
            let lock = try DirectoryLock(directory, store: files)
            defer { withExtendedLifetime(lock) {} }
            list = CursorList(try files.readIfPresent(path, limit: CursorList.byteLimit) ?? [])
            for (plug, sequence) in unwritten { list.set(sequence, of: plug) }
            try files.replace(path, with: list.bytes)
            unwritten = [:]
        } catch {
            if case .held = error.reason { return false }
            if !hasComplained { complain(error) }
            hasComplained = true
        }
        return true
    }
}
