public import DurableFiles
public import PlugModel

/// Remembers over restarts up to which event a program has shown each plug.
///
/// It is written after the effect, so whoever is killed in between sees an event again, and misses none. Where an effect must
/// come exactly once, the number belongs into the same write as the effect, and this is not enough.
public actor CursorMemory {
    /// A burst of events costs a few writes, not one for each.
    private static let pause = Duration.milliseconds(100)

    /// The last event shown of each plug.
    public var known: [PlugID: SequenceNumber] { list.numbers }

    private let directory: String
    private let files: FileStore
    private let complain: @Sendable (FileError) -> Void
    private var list: CursorList
    /// Those that the file does not say yet.
    private var unwritten: [PlugID: SequenceNumber] = [:]
    /// Which plug bears a name now.
    private var bearers: [String: PlugID] = [:]
    private var writing: Task<Void, Never>?
    private var hasComplained = false

    private var path: String { directory + "/cursors" }

    /// Reads what was remembered in the directory, which is made where it is missing. Several programs may share it.
    ///
    /// - Parameters:
    ///   - directory: of these programs alone.
    ///   - files: the kernel's, or a test's.
    ///   - complain: told of the first write that fails; later ones are tried all the same.
    /// - Throws: `FileError` where the directory cannot be made or read.
    public init(
        _ directory: String, files: FileStore = FileStore(), complain: @escaping @Sendable (FileError) -> Void
    ) throws(FileError) {
        self.directory = directory
        self.files = files
        self.complain = complain
        try files.makeDirectories(directory)
        list = CursorList(try files.readIfPresent(directory + "/cursors", limit: CursorList.byteLimit) ?? [])
    }

    /// Remembers how far the plug has come with this report, which has taken its effect.
    public func took(_ report: PlugReport) {
        switch report.update {
        case .connected(let plug): bearers[report.plug] = plug.id
        case .following(let sequence): remember(sequence, of: report.plug)
        case .event(let event, _): remember(event.sequence, of: report.plug)
        case .gap(let gap): remember(gap.to, of: report.plug)
        case .snapshot, .state, .log, .disconnected: break
        }
    }

    /// Writes what is not written yet. Nothing is remembered after it.
    public func finish() async {
        writing?.cancel()
        await writing?.value
        write()
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

    /// Into the file as it is now: another program may have written what it saw of other plugs.
    private func write() {
        guard !unwritten.isEmpty else { return }
        do throws(FileError) {
            let lock = try DirectoryLock(directory, store: files)
            defer { withExtendedLifetime(lock) {} }
            list = CursorList(try files.readIfPresent(path, limit: CursorList.byteLimit) ?? [])
            for (plug, sequence) in unwritten { list.set(sequence, of: plug) }
            try files.replace(path, with: list.bytes)
            unwritten = [:]
        } catch {
            // Another program writes at this moment: there is a next time.
            if case .held = error.reason { return }
            if !hasComplained { complain(error) }
            hasComplained = true
        }
    }
}
