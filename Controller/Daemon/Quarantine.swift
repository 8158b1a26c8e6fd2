public import PlugModel

/// The plugs that the daemon does not connect to. For each such plug, the daemon crashed twice within a minute while it
/// processed data of that plug. A plug is excluded for one hour at first, twice as long each further time, and at most
/// one day. One faulty plug therefore cannot stop the daemon permanently.
///
/// All times are seconds since 1970, because they are kept across processes and boots.
public struct Quarantine: Hashable, Sendable {
    /// A plug that was involved in a crash.
    public struct Entry: Hashable, Sendable {
        /// The plug's id.
        public var plug: PlugID
        /// The time of the last crash.
        public var died: Int64
        /// The number of times that the plug was excluded.
        public var times: Int
        /// The end of the current or last exclusion; nil if the plug was never excluded.
        public var until: Int64?
        /// Fingerprints of the plug's keys at the last crash. A plug that was paired again with a new key is not
        /// excluded. An entry of an earlier version has no fingerprints and applies to every key.
        public var keys: [String] = []
    }

    /// The maximum time in seconds between two crashes that exclude the plug.
    static let window: Int64 = 60
    /// The duration of the first exclusion in seconds.
    static let first: Int64 = 3600
    /// The maximum duration of an exclusion in seconds.
    static let longest: Int64 = 86_400
    /// The time in seconds after which a plug without crashes is removed.
    static let memory: Int64 = 7 * 86_400
    /// The maximum number of entries; the plug with the oldest crash is removed first. Prevents a file that another
    /// program wrote from filling the memory.
    static let limit = 64
    /// The maximum number of keys per plug: the current and the next one.
    private static let mostKeys = 2
    /// The length of a fingerprint in hexadecimal digits.
    static let keyDigits = 16
    /// The latest valid time.
    private static let latest: Int64 = 1 << 40

    /// The entries in the order of their last crashes.
    public private(set) var entries: [Entry] = []

    /// Creates an empty quarantine.
    public init() {}

    /// Returns the end of the plug's current exclusion, or nil. An exclusion that would last longer than the maximum is
    /// ignored, because the clock was set back.
    public func until(_ plug: PlugID, now: Int64) -> Int64? {
        guard let until = entries.first(where: { $0.plug == plug })?.until, now < until, until - now <= Self.longest
        else {
            return nil
        }
        return until
    }

    /// Returns the end of the current exclusion of a plug that is paired with these keys, or nil.
    ///
    /// - Parameter keys: Fingerprints of the plug's current and next key.
    public func until(_ plug: PlugID, keys: [String], now: Int64) -> Int64? {
        hasNewKey(plug, keys: keys) ? nil : until(plug, now: now)
    }

    /// Returns true if the plug was paired again with a new key since its last crash; false if the keys at the crash or
    /// the current keys are unknown.
    public func hasNewKey(_ plug: PlugID, keys: [String]) -> Bool {
        guard let entry = entries.first(where: { $0.plug == plug }), !entry.keys.isEmpty, !keys.isEmpty else {
            return false
        }
        return Set(entry.keys).isDisjoint(with: keys)
    }

    /// Records a crash while data of the plug was processed.
    ///
    /// - Parameters:
    ///   - plug: The plug.
    ///   - keys: Fingerprints of the plug's keys; empty if they are unknown.
    ///   - time: The time of the crash.
    /// - Returns: True if the plug is excluded now.
    public mutating func died(with plug: PlugID, keys: [String] = [], at time: Int64) -> Bool {
        guard (0...Self.latest).contains(time) else { return false }
        entries.removeAll { $0.died > time || time - $0.died > Self.memory }
        if hasNewKey(plug, keys: keys) { _ = lift(plug) }
        var entry = Entry(plug: plug, died: time, times: 0, keys: Array(keys.prefix(Self.mostKeys)))
        if let index = entries.firstIndex(where: { $0.plug == plug }) {
            let known = entries.remove(at: index)
            (entry.times, entry.until) = (known.times, known.until)
            if time - known.died <= Self.window {
                entry.times = min(entry.times + 1, Self.limit)
                // A shift by too many bits would give zero.
                let doubled = entry.times > 6 ? Self.longest : Self.first << Int64(entry.times - 1)
                entry.until = time + min(doubled, Self.longest)
            }
        }
        entries.append(entry)
        if entries.count > Self.limit { entries.removeFirst() }
        return until(plug, now: time) != nil
    }

    /// Removes the plug from the quarantine.
    ///
    /// - Returns: False if the plug had no entry.
    public mutating func lift(_ plug: PlugID) -> Bool {
        let count = entries.count
        entries.removeAll { $0.plug == plug }
        return entries.count < count
    }

    // MARK: Text format

    /// The text format, with one line per plug: the id, the time of the last crash, the number of exclusions, the end
    /// of the exclusion or "-", and the comma-separated fingerprints of the keys.
    public var text: String {
        entries.map { entry in
            let keys = entry.keys.isEmpty ? "" : " " + entry.keys.joined(separator: ",")
            return "\(entry.plug) \(entry.died) \(entry.times) \(entry.until.map { "\($0)" } ?? "-")\(keys)\n"
        }.joined()
    }

    /// Parses the text format and skips invalid lines. A missing exclusion is less harmful than a daemon that does not
    /// start.
    public init(text: String) {
        for line in text.split(separator: "\n").suffix(Self.limit) {
            let words = line.split(separator: " ")
            guard (4...5).contains(words.count), let plug = PlugID(rawValue: String(words[0])),
                let died = Int64(words[1]),
                let times = Int(words[2]), (0...Self.latest).contains(died), (0...Self.limit).contains(times)
            else { continue }
            let keys = words.count > 4 ? words[4].split(separator: ",").map(String.init) : []
            guard keys.count <= Self.mostKeys, keys.allSatisfy({ $0.utf8.count == Self.keyDigits }) else { continue }
            let until = Int64(words[3])
            guard until.map({ (0...Self.latest).contains($0) }) ?? (words[3] == "-"),
                !entries.contains(where: { $0.plug == plug })
            else { continue }
            entries.append(Entry(plug: plug, died: died, times: times, until: until, keys: keys))
        }
        entries.sort { $0.died < $1.died }
    }
}
