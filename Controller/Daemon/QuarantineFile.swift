public import DurableFiles
import LinuxClocks
public import PlugClient
public import PlugModel

/// Where a daemon keeps its ``Quarantine``, and where a process that dies leaves what it died of: two small files in the daemon's directory.
public struct QuarantineFile: Sendable {
    /// More than the most entries take.
    private static let byteLimit = 8 << 10

    private let directory: String
    private let files: FileStore
    private let paired: PairedPlugs

    /// - Parameters:
    ///   - directory: the daemon's, which is there.
    ///   - paired: has the keys of the plugs.
    public init(_ directory: String, files: FileStore = FileStore(), paired: PairedPlugs = PairedPlugs()) {
        self.directory = directory
        self.paired = paired
        self.files = files
    }

    /// The same below the directory of the daemon's state.
    public static func defaultDirectory() -> String {
        (ServiceDirectories.state ?? UserDirectories.state + "/smartplug") + "/daemon"
    }

    private var path: String { directory + "/quarantine" }
    private var deathPath: String { directory + "/died" }

    /// Nothing where there is none yet.
    public func read() throws(FileError) -> Quarantine {
        Quarantine(text: String(decoding: try files.readIfPresent(path, limit: Self.byteLimit) ?? [], as: UTF8.self))
    }

    public func write(_ quarantine: Quarantine) throws(FileError) {
        try files.replace(path, with: Array(quarantine.text.utf8))
    }

    /// What became of the process before, where it died by a fault; then this one begins to leave what it dies of.
    ///
    /// - Returns: the signal's number, the plug that it had in hand, and whether that one is kept away from now; nil where none died.
    /// - Throws: where one of both cannot be read or written. The daemon goes on without.
    public func begin() throws(FileError) -> Death? {
        let death = try take()
        if let number = PlugInHand.leave(in: deathPath) {
            throw FileError(.open, deathPath, .system(SystemError(number)))
        }
        return death
    }

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

    /// How a process ended that did not end in order.
    public struct Death: Hashable, Sendable {
        public var signal: Int32
        /// Nil: it handled no plug's words.
        public var plug: PlugID?
        /// Seconds since 1970.
        public var time: Int64
        public var isKeptAway = false

        init?(line: String) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count == 3, let signal = Int32(words[0]), let time = Int64(words[2]) else { return nil }
            let plug = PlugID(rawValue: String(words[1]))
            guard plug != nil || words[1] == "-" else { return nil }
            (self.signal, self.plug, self.time) = (signal, plug, time)
        }

        /// With a `hint:` line.
        public var words: String {
            guard let plug else {
                return
                    "the process before died by signal \(signal), and no plug was the cause\nhint: report it, with its last lines"
            }
            let cause = "the process before died by signal \(signal) while it handled what plug \(plug) said"
            guard isKeptAway else { return "\(cause)\nhint: report it, with its last lines" }
            return """
                \(cause), as the one before it: this one keeps away from that plug
                hint: plugctl daemon quarantine says for how long, and lifts it
                """
        }
    }

    /// Why the daemon keeps away from the plug now, with a `hint:` line; nil where it does not. Looked up in the file, so that a person who
    /// lifts it needs no daemon for that. A plug that was paired again with a new key was reset: nothing is held against it any longer.
    public func reason(for plug: PairedPlugs.Entry) -> String? {
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000_000
        // What cannot be read keeps nobody away.
        guard let until = try? read().until(plug.id, keys: Self.fingerprints(of: plug), now: now) else { return nil }
        let minutes = (until - now + 59) / 60
        return Self.words(minutes: minutes, plug.id)
    }

    /// Short names of the plug's key and of its next one (FNV-1a with 64 bits): they tell apart keys that a person paired, and protect
    /// nothing.
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
            the daemon keeps away from it for \(time): it died twice within a minute while it handled what this plug said
            hint: update plug and controller, and report it; plugctl daemon quarantine --lift \(plug) follows the plug again at once
            """
    }
}
