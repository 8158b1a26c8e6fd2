public import LinuxSystem
public import PlugClient
public import PlugModel

/// The files of a daemon's ``Quarantine`` and of its last crash, in the daemon's directory.
public struct QuarantineFile: Sendable {
    /// The maximum size of a file in bytes, which is more than the maximum number of entries needs.
    private static let byteLimit = 8 << 10

    private let directory: String
    private let files: FileStore
    private let paired: PairedPlugs

    /// Refers to the files in a directory.
    ///
    /// - Parameters:
    ///   - directory: The daemon's directory, which must exist.
    ///   - files: The file system; tests pass a simulated one.
    ///   - paired: The list of paired plugs, which contains their keys.
    public init(_ directory: String, files: FileStore = FileStore(), paired: PairedPlugs = PairedPlugs()) {
        self.directory = directory
        self.paired = paired
        self.files = files
    }

    /// Returns the directory `daemon` below the state directory of the service or the user.
    public static func defaultDirectory() -> String {
        (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/daemon"
    }

    private var path: String { directory + "/quarantine" }
    private var deathPath: String { directory + "/died" }

    /// Reads the quarantine. A missing file is an empty quarantine.
    public func read() throws(FileError) -> Quarantine {
        Quarantine(text: String(decoding: try files.readIfPresent(path, limit: Self.byteLimit) ?? [], as: UTF8.self))
    }

    /// Replaces the stored quarantine.
    public func write(_ quarantine: Quarantine) throws(FileError) {
        try files.replace(path, with: Array(quarantine.text.utf8))
    }

    /// Evaluates the crash of the previous process, if there was one, and then prepares this process to record its own
    /// crash.
    ///
    /// - Returns: The signal, the plug whose data was processed, and whether this plug is excluded now; nil if the
    ///   previous process did not crash.
    /// - Throws: `FileError` if one of the files cannot be read or written. The daemon can continue without the
    ///   quarantine.
    public func begin() throws(FileError) -> Death? {
        let death = try take()
        if let number = CrashAttribution.leave(in: deathPath) {
            throw FileError(.open, deathPath, .system(SystemError(number)))
        }
        return death
    }

    /// Reads the record of a crash and adds it to the quarantine. The record itself is not removed.
    func take() throws(FileError) -> Death? {
        let line = try files.readIfPresent(deathPath, limit: Self.byteLimit) ?? []
        var death = Death(line: String(decoding: line, as: UTF8.self))
        if let plug = death?.plug, let time = death?.time {
            var quarantine = try read()
            let entry = try? paired.all().first { $0.id == plug }
            death?.isKeptAway = quarantine.died(with: plug, keys: entry.map(Self.fingerprints) ?? [], at: time)
            try write(quarantine)
        }
        return death
    }

    /// The crash of a process.
    public struct Death: Hashable, Sendable {
        /// The signal number.
        public var signal: Int32
        /// The plug whose data the crashed thread processed; nil if it processed no plug's data.
        public var plug: PlugID?
        /// The time in seconds since 1970.
        public var time: Int64
        /// True if the plug is excluded because of this crash.
        public var isKeptAway = false

        init?(line: String) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 3, let signal = Int32(words[0]), let time = Int64(words[2]) else { return nil }
            let plug = PlugID(rawValue: String(words[1]))
            guard plug != nil || words[1] == "-" else { return nil }
            (self.signal, self.plug, self.time) = (signal, plug, time)
        }

        /// The message for the user, with a `hint:` line.
        public var words: String {
            guard let plug else {
                return
                    "the previous daemon crashed with signal \(signal); no plug caused it\nhint: report this with its last log lines"
            }
            let cause = "the previous daemon crashed with signal \(signal) while it handled a message from plug \(plug)"
            guard isKeptAway else { return "\(cause)\nhint: report this with its last log lines" }
            return """
                \(cause), for the second time within a minute; that plug is disabled
                hint: `plugctl daemon quarantine` shows for how long, and with `--lift \(plug)` it enables the plug again
                """
        }
    }

    /// Returns the reason why the daemon does not connect to the plug now, with a `hint:` line; nil if it does. The
    /// file is read each time, so that a removal by `plugctl daemon quarantine --lift` applies without a restart of the
    /// daemon. A plug that was paired again with a new key is not excluded.
    public func reason(for plug: PairedPlugs.Entry) -> String? {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000_000
        // An unreadable file excludes no plug.
        guard let until = try? read().until(plug.id, keys: Self.fingerprints(of: plug), now: now) else { return nil }
        let minutes = (until - now + 59) / 60
        return Self.words(minutes: minutes, plug.id)
    }

    /// Returns short identifiers of the plug's current and next key (64-bit FNV-1a). They distinguish keys that the
    /// user paired and have no security function.
    static func fingerprints(of plug: PairedPlugs.Entry) -> [String] {
        [plug.key, plug.nextKey].compactMap(\.self).map { key in
            let hash = key.bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: Quarantine.keyDigits - digits.count) + digits
        }
    }

    static func words(minutes: Int64, _ plug: PlugID) -> String {
        let time = minutes >= 120 ? "\((minutes + 59) / 60) hours" : minutes == 1 ? "a minute" : "\(minutes) minutes"
        return """
            disabled for \(time) because messages from this plug crashed the daemon twice within a minute
            hint: update the plug and the controller, and report this; plugctl daemon quarantine --lift \(plug) enables the plug again
            """
    }
}
