public import PlugModel

/// The plugs that a daemon keeps away from, since it died twice within a minute while it handled what one of them said: so one plug never
/// takes the house with it. For an hour at first, twice as long after each further time, a day at most.
///
/// Times are seconds since 1970, since they outlive processes and boots.
public struct Quarantine: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var plug: PlugID
        /// When a process last died with it.
        public var died: Int64
        /// How often it was kept away from.
        public var times: Int
        /// Until when it is, or was.
        public var until: Int64?
        /// Fingerprints of the keys that the plug had then. A plug that was paired again with a new key is not held back. Empty in an
        /// entry of an earlier version, which holds for every key.
        public var keys: [String] = []
    }

    /// Between two deaths that are taken for the plug's.
    static let window: Int64 = 60
    static let first: Int64 = 3600
    static let longest: Int64 = 86_400
    /// After so long without a death nothing is held against a plug.
    static let memory: Int64 = 7 * 86_400
    /// Stops a file that somebody else wrote from filling the memory; the one that died longest ago is forgotten first.
    static let limit = 64
    /// The plug's key and its next one.
    private static let mostKeys = 2
    static let keyDigits = 16
    /// Times beyond it are no times.
    private static let latest: Int64 = 1 << 40

    /// By when a process last died with them.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Whether the plug is kept away from at that time. Where the clock was set back so far that it would be for longer than any is,
    /// it is not.
    public func until(_ plug: PlugID, now: Int64) -> Int64? {
        guard let until = entries.first(where: { $0.plug == plug })?.until, now < until, until - now <= Self.longest
        else {
            return nil
        }
        return until
    }

    /// The same for a plug that proves one of these keys.
    ///
    /// - Parameter keys: fingerprints of the key that the plug was paired with, and of its next one.
    public func until(_ plug: PlugID, keys: [String], now: Int64) -> Int64? {
        hasNewKey(plug, keys: keys) ? nil : until(plug, now: now)
    }

    /// Whether the plug was paired again since the entry was made.
    public func hasNewKey(_ plug: PlugID, keys: [String]) -> Bool {
        guard let entry = entries.first(where: { $0.plug == plug }), !entry.keys.isEmpty, !keys.isEmpty else {
            return false
        }
        return Set(entry.keys).isDisjoint(with: keys)
    }

    /// A process died while it handled what the plug said.
    ///
    /// - Parameter keys: fingerprints of the plug's keys; empty if they are not known.
    /// - Returns: whether the plug is kept away from since then.
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
                // A shift that is too wide gives zero.
                let doubled = entry.times > 6 ? Self.longest : Self.first << Int64(entry.times - 1)
                entry.until = time + min(doubled, Self.longest)
            }
        }
        entries.append(entry)
        if entries.count > Self.limit { entries.removeFirst() }
        return until(plug, now: time) != nil
    }

    /// Nothing is held against the plug any more.
    ///
    /// - Returns: false where nothing was.
    public mutating func lift(_ plug: PlugID) -> Bool {
        let count = entries.count
        entries.removeAll { $0.plug == plug }
        return entries.count < count
    }

    // MARK: As it is kept

    /// A line for each: its id, when a process last died with it, how often it was kept away from, and until when, or "-"; then the
    /// fingerprints of its keys, with a comma between them.
    public var text: String {
        entries.map { entry in
            let keys = entry.keys.isEmpty ? "" : " " + entry.keys.joined(separator: ",")
            return "\(entry.plug) \(entry.died) \(entry.times) \(entry.until.map { "\($0)" } ?? "-")\(keys)\n"
        }.joined()
    }

    /// Lines that nobody can read are left out: a plug that is not kept away from is the lesser evil.
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
