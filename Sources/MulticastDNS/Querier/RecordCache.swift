public import DNSWire
import ProtocolCore

/// One change of a cache.
public enum CacheChange: Hashable, Sendable {
    case added(Record)
    case removed(Record)
}

/// The records received on one interface, each until its time to live ends (RFC 6762 §10).
struct RecordCache: Sendable {
    /// The records per key, in the order of their serial numbers.
    private var entries: [QuestionKey: [CacheEntry]] = [:]
    /// The serial numbers of pointers. One name may have thousands of pointers, and each received pointer needs a
    /// lookup.
    private var pointers: [QuestionKey: [Name: UInt64]] = [:]
    /// The number of records without priority.
    private var count = 0
    /// The size of the records without priority.
    private var byteCount = 0
    /// Names with priority: their records and the pointers to them have reserved room.
    private var favoured: Set<Name> = []
    private var serial: UInt64 = 0
    private var lastSweep: Instant?
    /// The keys by the time at which their first record expires or needs a refresh.
    private var deadlines = DeadlineQueue<QuestionKey>()

    /// A time before which no record expires or needs a refresh, or nil if no such time is scheduled.
    var deadline: Instant? { deadlines.next }

    /// The limits of non-priority records, as a number and in bytes. They prevent a flood of forged records from
    /// filling the memory. The records of a link with 1,000 hosts fit.
    private static let countLimit = 5000
    private static let byteLimit = 4 << 20
    /// One eviction removes a sixteenth of the non-priority records and not only one record, because each eviction
    /// sorts all records by age.
    private static let evictedShare = 16
    /// The limit of records per type and priority name. It prevents forged records under that name from filling the
    /// memory; a host has fewer addresses.
    private static let favouredLimit = 16
    /// The record types that lead to the service of a priority name.
    private static let favouredTypes: [RecordType] = [.srv, .txt, .a, .aaaa, .nsec]
    /// The minimum interval between two searches of a full cache for records without a question.
    private static let sweepInterval: Duration = .seconds(1)

    /// The circumstances of a record's arrival.
    struct Arrival {
        let now: Instant
        /// A packet's records share the jitter, so that they are also refreshed together.
        let jitter: Double
        /// False if the cache only updates records that it already has.
        let keepsNew: Bool
        let isAsked: Bool
    }

    /// Stores a record. Returns the changes: first the evicted records, then the new one. A known record causes no
    /// change: it is renewed, or it ends soon if its time to live is 0.
    mutating func insert(_ record: Record, _ arrival: Arrival, isAsked: (QuestionKey) -> Bool) -> [CacheChange] {
        let key = QuestionKey(name: record.name, type: record.type)
        let now = arrival.now
        if record.isCacheFlush { flush(key, except: record, now: now) }
        if let index = index(of: record.data, key) {
            if record.timeToLive == 0 {
                entries[key]?[index].end(by: now + RFC6762.goodbyeGrace)
            } else {
                entries[key]?[index].renew(with: record, now: now, jitter: arrival.jitter)
            }
            note(key, entries[key]?[index].deadline)
            return []
        }
        guard record.timeToLive > 0, arrival.keepsNew else { return [] }
        let isFavoured = isFavoured(record)
        guard var changes = isFavoured ? [] : makeRoom(arrival, isAsked: isAsked) else { return [] }
        serial += 1
        let entry = CacheEntry(
            record: record, now: now, jitter: arrival.jitter, serial: serial, isFavoured: isFavoured)
        entries[key, default: []].append(entry)
        if case .ptr(let name) = record.data { pointers[key, default: [:]][name] = serial }
        if isFavoured {
            changes += shorten(key)
        } else {
            count += 1
            byteCount += entry.byteCount
        }
        note(key, entry.deadline)
        return changes + [.added(record)]
    }

    /// §10.2: ends other records of the set in one second, if they were received more than a second ago.
    private mutating func flush(_ key: QuestionKey, except record: Record, now: Instant) {
        for index in entries[key]?.indices ?? 0..<0 {
            // A service type has a pointer to each of its instances. A cache-flush bit on one pointer must not end the
            // pointers to priority services.
            guard let entry = entries[key]?[index], entry.record.data != record.data,
                now - entry.received > RFC6762.flushGrace, !(entry.isFavoured && key.type == .ptr)
            else { continue }
            entries[key]?[index].replace(by: now + RFC6762.flushGrace)
            note(key, entries[key]?[index].deadline)
        }
    }

    private func index(of data: RecordData, _ key: QuestionKey) -> Int? {
        guard case .ptr(let name) = data else { return entries[key]?.firstIndex { $0.record.data == data } }
        guard let serial = pointers[key]?[name], let known = entries[key] else { return nil }
        var range = known.startIndex..<known.endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if known[middle].serial < serial {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    private mutating func forgetPointers(_ removed: [CacheEntry]) {
        for entry in removed {
            guard case .ptr(let name) = entry.record.data else { continue }
            let key = QuestionKey(name: entry.record.name, type: .ptr)
            pointers[key]?[name] = nil
            if pointers[key]?.isEmpty == true { pointers[key] = nil }
        }
    }

    private mutating func note(_ key: QuestionKey, _ instant: Instant?) {
        if let instant { deadlines.schedule(key, at: instant) }
    }

    // MARK: Room

    private var isFull: Bool { count >= Self.countLimit || byteCount >= Self.byteLimit }

    /// Makes room for a record. A full cache accepts no record without a question. For a record with a question it
    /// first drops all non-priority records without a question, at most once per ``sweepInterval``. If it is still
    /// full, it evicts the oldest non-priority records.
    ///
    /// - Returns: the evicted records, empty if there was room. Nil if the cache is full and the record has no
    ///   question.
    private mutating func makeRoom(_ arrival: Arrival, isAsked: (QuestionKey) -> Bool) -> [CacheChange]? {
        guard isFull else { return [] }
        guard arrival.isAsked else { return nil }
        if lastSweep.map({ arrival.now - $0 >= Self.sweepInterval }) ?? true {
            lastSweep = arrival.now
            // The removal of these records is not reported, because no question asks for them.
            _ = remove { key, _ in !isAsked(key) }
        }
        var evicted: [CacheEntry] = []
        while isFull, count > 0 { evicted += evictOldest() }
        return evicted.map { .removed($0.record) }
    }

    private mutating func evictOldest() -> [CacheEntry] {
        let serials = entries.values.joined().filter { !$0.isFavoured }.map(\.serial).sorted()
        let last = serials[max(1, serials.count / Self.evictedShare) - 1]
        return remove { _, entry in entry.serial <= last }.sorted { $0.serial < $1.serial }
    }

    /// Removes non-priority records that match, and returns them.
    private mutating func remove(where isGone: (QuestionKey, CacheEntry) -> Bool) -> [CacheEntry] {
        var removed: [CacheEntry] = []
        for (key, known) in entries {
            let kept = known.filter { $0.isFavoured || !isGone(key, $0) }
            guard kept.count < known.count else { continue }
            removed += known.filter { !$0.isFavoured && isGone(key, $0) }
            entries[key] = kept.isEmpty ? nil : kept
            if kept.isEmpty { deadlines.forget(key) }
        }
        forgetPointers(removed)
        count -= removed.count
        byteCount -= removed.reduce(0) { $0 + $1.byteCount }
        return removed
    }

    // MARK: Priority names

    /// Adds or removes the priority of this name.
    mutating func prioritize(_ name: Name, _ isFavoured: Bool) {
        if isFavoured { favoured.insert(name) } else { favoured.remove(name) }
        for type in Self.favouredTypes { judge(QuestionKey(name: name, type: type)) }
        if let parent = name.parent { judge(QuestionKey(name: parent, type: .ptr)) }
    }

    private func isFavoured(_ record: Record) -> Bool {
        guard !favoured.isEmpty else { return false }
        if case .ptr(let name) = record.data { return favoured.contains(name) && name.parent == record.name }
        return Self.favouredTypes.contains(record.type) && favoured.contains(record.name)
    }

    private mutating func judge(_ key: QuestionKey) {
        for index in entries[key]?.indices ?? 0..<0 {
            guard let entry = entries[key]?[index], case let isFavoured = isFavoured(entry.record),
                isFavoured != entry.isFavoured
            else { continue }
            entries[key]?[index].prioritize(isFavoured)
            count += isFavoured ? -1 : 1
            byteCount += isFavoured ? -entry.byteCount : entry.byteCount
        }
        // If a key now exceeds its limit, the next record for it makes room.
    }

    /// Removes the oldest record of a priority key if the key exceeds its limit. Pointers are exempt: each one leads to
    /// a different priority name, and the owner limits the number of these names.
    private mutating func shorten(_ key: QuestionKey) -> [CacheChange] {
        guard key.type != .ptr, let known = entries[key], known.count > Self.favouredLimit else { return [] }
        let oldest = known.min { $0.serial < $1.serial }
        entries[key]?.removeAll { $0.serial == oldest?.serial }
        return oldest.map { [.removed($0.record)] } ?? []
    }

    /// Removes expired records. Returns them and the keys that need a refresh query because their records expire soon.
    mutating func advance(
        now: Instant, isAsked: (QuestionKey) -> Bool
    ) -> (removed: [Record], refresh: [QuestionKey]) {
        var removed: [CacheEntry] = []
        var refresh: [(key: QuestionKey, serial: UInt64)] = []
        for key in deadlines.takeDue(now: now) {
            guard var kept = entries.removeValue(forKey: key) else { continue }
            removed += kept.filter { $0.expires <= now }
            kept.removeAll { $0.expires <= now }
            // One query asks for all records of the key. If a thousand hosts offer one service, a query per host would
            // request the same answers again and again.
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
        forgetPointers(removed)
        let others = removed.filter { !$0.isFavoured }
        count -= others.count
        byteCount -= others.reduce(0) { $0 + $1.byteCount }
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

    /// Notes another host's query for these records (§10.5); `isKnown` returns true for the records in its known
    /// answers. Records that too many queries left unanswered are put in doubt.
    mutating func noteQuery(_ key: QuestionKey, now: Instant, isKnown: (Record) -> Bool) {
        for index in entries[key]?.indices ?? 0..<0 {
            guard let record = entries[key]?[index].record, !isKnown(record),
                entries[key]?[index].noteQuery(now: now) == true
            else { continue }
            entries[key]?[index].doubt(now: now)
            note(key, entries[key]?[index].deadline)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the records, newest first. Replaced records are returned only if the key has no others.
    func current(_ key: QuestionKey) -> [Record] {
        let all = entries[key] ?? []
        let valid = all.filter { !$0.isReplaced }
        return (valid.isEmpty ? all : valid).sorted { $0.serial > $1.serial }.map(\.record)
    }

    /// Returns the records with at least half of their lifetime left, each with its remaining time to live (§7.1).
    func knownAnswers(_ key: QuestionKey, now: Instant) -> [Record] {
        (entries[key] ?? []).compactMap { $0.knownAnswer(now: now) }
    }

    /// Returns true if the cache has a unique record or a negative answer (§6.1), so that no further answer can arrive.
    func hasTheAnswer(_ key: QuestionKey) -> Bool {
        if entries[key]?.contains(where: { $0.record.isCacheFlush && !$0.isReplaced }) == true { return true }
        return entries[QuestionKey(name: key.name, type: .nsec)]?.contains { entry in
            guard case .nsec(key.name, let types) = entry.record.data else { return false }
            return !types.contains(key.type)
        } ?? false
    }

    var all: [Record] { entries.values.joined().sorted { $0.serial < $1.serial }.map(\.record) }
}
