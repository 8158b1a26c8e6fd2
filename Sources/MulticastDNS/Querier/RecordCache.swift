public import DNSWire
import ProtocolCore

/// One change of a cache.
public enum CacheChange: Hashable, Sendable {
    case added(Record)
    case removed(Record)
}

/// The records heard on one interface, each until its time to live ends (RFC 6762 §10).
struct RecordCache: Sendable {
    private var entries: [QuestionKey: [CacheEntry]] = [:]
    private var count = 0
    private var byteCount = 0
    private var serial: UInt64 = 0
    private var lastSweep: Instant?
    /// When the first of a key's records expires or needs a refresh.
    private var deadlines = DeadlineQueue<QuestionKey>()

    /// Nothing expires or needs a refresh before this.
    var deadline: Instant? { deadlines.next }

    /// Both stop a flood of made-up records from taking the memory. A link of 1,000 hosts fits.
    private static let countLimit = 5000
    private static let byteLimit = 4 << 20
    /// When the cache is full it is searched for records nobody asks for at most this often.
    private static let sweepInterval: Duration = .seconds(1)

    /// The circumstances in which a record arrived.
    struct Arrival {
        let now: Instant
        /// Shared by a packet's records, so that they are refreshed together too.
        let jitter: Double
        /// False when only what is cached already is kept up to date.
        let keepsNew: Bool
        let isAsked: Bool
    }

    /// Notes a record; returns the change when it is new.
    mutating func insert(_ record: Record, _ arrival: Arrival, isAsked: (QuestionKey) -> Bool) -> CacheChange? {
        let key = QuestionKey(name: record.name, type: record.type)
        let now = arrival.now
        if record.isCacheFlush { flush(key, except: record, now: now) }
        if let index = entries[key]?.firstIndex(where: { $0.record.data == record.data }) {
            if record.timeToLive == 0 {
                entries[key]?[index].end(by: now + RFC6762.goodbyeGrace)
            } else {
                entries[key]?[index].renew(with: record, now: now, jitter: arrival.jitter)
            }
            note(key, entries[key]?[index].deadline)
            return nil
        }
        guard record.timeToLive > 0, arrival.keepsNew, hasRoom(for: record, arrival, isAsked: isAsked) else {
            return nil
        }
        serial += 1
        let entry = CacheEntry(record: record, now: now, jitter: arrival.jitter, serial: serial)
        entries[key, default: []].append(entry)
        count += 1
        byteCount += entry.byteCount
        note(key, entry.deadline)
        return .added(record)
    }

    /// §10.2: what was heard more than a second ago and is not repeated now ends in a second.
    private mutating func flush(_ key: QuestionKey, except record: Record, now: Instant) {
        for index in entries[key]?.indices ?? 0..<0 {
            guard let entry = entries[key]?[index], entry.record.data != record.data,
                now - entry.received > RFC6762.flushGrace
            else { continue }
            entries[key]?[index].end(by: now + RFC6762.flushGrace)
            entries[key]?[index].isReplaced = true
            note(key, entries[key]?[index].deadline)
        }
    }

    private mutating func note(_ key: QuestionKey, _ instant: Instant?) {
        if let instant { deadlines.schedule(key, at: instant) }
    }

    /// When the cache is full, everything goes that nobody asks for; if that does not help, newcomers are left out.
    private mutating func hasRoom(for record: Record, _ arrival: Arrival, isAsked: (QuestionKey) -> Bool) -> Bool {
        let isFull = { (cache: RecordCache) in cache.count >= Self.countLimit || cache.byteCount >= Self.byteLimit }
        guard isFull(self) else { return true }
        guard arrival.isAsked, lastSweep.map({ arrival.now - $0 >= Self.sweepInterval }) ?? true else { return false }
        lastSweep = arrival.now
        // These leave without a word: nobody has been told that they are here.
        entries = entries.filter { isAsked($0.key) }
        count = entries.values.reduce(0) { $0 + $1.count }
        byteCount = entries.values.joined().reduce(0) { $0 + $1.byteCount }
        return !isFull(self)
    }

    /// Removes what has expired, and says which keys need a query to refresh what is about to expire.
    mutating func advance(
        now: Instant, isAsked: (QuestionKey) -> Bool
    ) -> (removed: [Record], refresh: [QuestionKey]) {
        var removed: [CacheEntry] = []
        var refresh: [(key: QuestionKey, serial: UInt64)] = []
        for key in deadlines.takeDue(now: now) {
            guard var kept = entries.removeValue(forKey: key) else { continue }
            removed += kept.filter { $0.expires <= now }
            kept.removeAll { $0.expires <= now }
            // One query asks for all records of the key. Where a thousand hosts give one service, a query for each of them would
            // bring the same answers again and again.
            if let first = kept.first(where: { $0.needsRefresh(now: now) && ($0.isDoubted || isAsked(key)) }) {
                refresh.append((key, first.serial))
            }
            if kept.contains(where: { $0.needsRefresh(now: now) }) {
                for index in kept.indices { kept[index].noteRefresh(now: now) }
            }
            note(key, kept.lazy.map(\.deadline).min())
            if !kept.isEmpty { entries[key] = kept }
        }
        guard !removed.isEmpty || !refresh.isEmpty else { return ([], []) }
        count -= removed.count
        byteCount -= removed.reduce(0) { $0 + $1.byteCount }
        var seen: Set<QuestionKey> = []
        return (
            removed.sorted { $0.serial < $1.serial }.map(\.record),
            refresh.sorted { $0.serial < $1.serial }.map(\.key).filter { seen.insert($0).inserted }
        )
    }

    mutating func reconfirm(_ key: QuestionKey, _ data: RecordData?, now: Instant) {
        for index in entries[key]?.indices ?? 0..<0 where data == nil || data == entries[key]?[index].record.data {
            entries[key]?[index].doubt(now: now)
            note(key, entries[key]?[index].deadline)
        }
    }

    /// §10.5: another host asks for these records, and `isKnown` to it are some of them. Those that stayed unanswered too often
    /// come under doubt.
    mutating func noteQuery(_ key: QuestionKey, now: Instant, isKnown: (Record) -> Bool) {
        for index in entries[key]?.indices ?? 0..<0 {
            guard let record = entries[key]?[index].record, !isKnown(record),
                entries[key]?[index].noteQuery(now: now) == true
            else { continue }
            entries[key]?[index].doubt(now: now)
            note(key, entries[key]?[index].deadline)
        }
    }

    var isEmpty: Bool { count == 0 }

    /// The newest first; records that newer ones replace only when nothing else is there.
    func current(_ key: QuestionKey) -> [Record] {
        let all = entries[key] ?? []
        let valid = all.filter { !$0.isReplaced }
        return (valid.isEmpty ? all : valid).sorted { $0.serial > $1.serial }.map(\.record)
    }

    /// §7.1: those with at least half of their life before them, with what is left of it.
    func knownAnswers(_ key: QuestionKey, now: Instant) -> [Record] {
        (entries[key] ?? []).compactMap { $0.knownAnswer(now: now) }
    }

    /// True when a unique record is here, or the word that there is none (§6.1): no further answer can come.
    func hasTheAnswer(_ key: QuestionKey) -> Bool {
        if entries[key]?.contains(where: { $0.record.isCacheFlush && !$0.isReplaced }) == true { return true }
        return entries[QuestionKey(name: key.name, type: .nsec)]?.contains { entry in
            guard case .nsec(key.name, let types) = entry.record.data else { return false }
            return !types.contains(key.type)
        } ?? false
    }

    var all: [Record] { entries.values.joined().sorted { $0.serial < $1.serial }.map(\.record) }
}
