import DNSWire
import ProtocolCore

/// A cached record and its lifetime (RFC 6762 §5.2, §10).
struct CacheEntry: Sendable {
    private(set) var record: Record
    /// The arrival number, which makes the order of records repeatable.
    let serial: UInt64
    /// True if records of other names cannot evict this one.
    private(set) var isFavoured: Bool
    private(set) var received: Instant
    private(set) var expires: Instant
    /// True if a record with the cache-flush bit replaced this one (§10.2).
    private(set) var isReplaced = false
    /// True if the record is in doubt (§10.4). The querier then asks for it even if no caller wants it.
    private(set) var isDoubted = false
    /// The times of the next queries for this record; nil if the record expires without a query.
    private var refresh: RefreshPlan?
    /// The number of other hosts' queries that this record should have answered since it was last received, and the
    /// time of the latest one (§10.5).
    private var unanswered: (count: Int, last: Instant)?

    init(record: Record, now: Instant, jitter: Double, serial: UInt64, isFavoured: Bool) {
        self.record = record
        self.serial = serial
        self.isFavoured = isFavoured
        received = now
        expires = now
        renew(with: record, now: now, jitter: jitter)
    }

    /// Restarts the record's lifetime after it was received again.
    mutating func renew(with record: Record, now: Instant, jitter: Double) {
        self.record = record
        received = now
        let lifetime = Duration.seconds(Int(record.timeToLive))
        expires = now + lifetime
        refresh = RefreshPlan(from: now, lifetime: lifetime, jitter: jitter)
        isReplaced = false
        isDoubted = false
        unanswered = nil
    }

    /// Lets the record expire by this time, without a query for it.
    mutating func end(by instant: Instant) {
        expires = min(expires, instant)
        refresh = nil
    }

    /// Lets the record expire by this time, because a record with the cache-flush bit replaced it (§10.2).
    mutating func replace(by instant: Instant) {
        end(by: instant)
        isReplaced = true
    }

    mutating func prioritize(_ isFavoured: Bool) { self.isFavoured = isFavoured }

    /// Shortens the remaining lifetime to ten seconds, with refresh queries immediately and after 2.5, 5 and 7.5 s
    /// (§10.4). Does nothing if the record expires earlier or is already in doubt.
    mutating func doubt(now: Instant) {
        guard expires > now + RFC6762.reconfirmation, !isDoubted else { return }
        isDoubted = true
        expires = now + RFC6762.reconfirmation
        let lifetime = RFC6762.reconfirmation * 5
        refresh = RefreshPlan(from: now - lifetime * 4 / 5, lifetime: lifetime, jitter: 0)
    }

    /// Notes that another host asked for this record without knowing it (§10.5). A query within one second after the
    /// record was received does not count, because the record's owner may stay silent for that time. A query within one
    /// second after a counted query does not count either, because one query can arrive over both IPv4 and IPv6.
    ///
    /// - Returns: true if the number of unanswered queries puts the record in doubt.
    mutating func noteQuery(now: Instant) -> Bool {
        guard now - received >= RFC6762.multicastInterval,
            unanswered.map({ now - $0.last >= RFC6762.multicastInterval }) ?? true
        else { return false }
        let count = (unanswered?.count ?? 0) + 1
        unanswered = (count, now)
        return count >= RFC6762.unansweredLimit
    }

    var deadline: Instant { refresh.map { min($0.next, expires) } ?? expires }

    func needsRefresh(now: Instant) -> Bool { refresh.map { $0.next <= now } ?? false }

    /// Marks every due refresh as done, and every refresh that would be due without its jitter.
    mutating func noteRefresh(now: Instant) { refresh = refresh.flatMap { $0.after(now) } }

    func knownAnswer(now: Instant) -> Record? {
        let left = expires - now
        guard !isReplaced, !isDoubted, left * 2 >= .seconds(Int(record.timeToLive)), left >= .seconds(1) else {
            return nil
        }
        var known = record
        known.timeToLive = UInt32(clamping: left.components.seconds)
        // §10.2: a list of known answers must not contain the cache-flush bit.
        known.isCacheFlush = false
        return known
    }

    /// The approximate memory of the record in bytes.
    var byteCount: Int {
        let data =
            switch record.data {
            case .a, .aaaa: 16
            case .ptr(let name): name.bytes.count
            case .srv(_, _, _, let target): 6 + target.bytes.count
            case .txt(let bytes), .other(_, let bytes): bytes.count
            case .nsec(let next, let types): next.bytes.count + 2 * types.count
            }
        return MemoryLayout<CacheEntry>.size + record.name.bytes.count + data
    }
}
