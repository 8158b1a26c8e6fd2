import DNSWire
import ProtocolCore

/// A cached record and the course of its life (RFC 6762 §5.2, §10).
struct CacheEntry: Sendable {
    private(set) var record: Record
    /// In order of arrival, so that a run repeats exactly.
    let serial: UInt64
    private(set) var received: Instant
    private(set) var expires: Instant
    /// A record with the cache-flush bit came that replaces this one (§10.2).
    var isReplaced = false
    /// Somebody found it wrong (§10.4): it is asked for even when nobody wants it.
    private(set) var isDoubted = false
    /// When to ask again, the soonest first; empty when it is left to expire.
    private var refreshes: ArraySlice<Instant>

    init(record: Record, now: Instant, jitter: Double, serial: UInt64) {
        self.record = record
        self.serial = serial
        received = now
        expires = now
        refreshes = []
        renew(with: record, now: now, jitter: jitter)
    }

    /// The record was heard again.
    mutating func renew(with record: Record, now: Instant, jitter: Double) {
        self.record = record
        received = now
        let lifetime = Duration.seconds(Int(record.timeToLive))
        expires = now + lifetime
        refreshes = Self.refreshes(lifetime, from: now, jitter: jitter)
        isReplaced = false
        isDoubted = false
    }

    private static func refreshes(_ lifetime: Duration, from start: Instant, jitter: Double) -> ArraySlice<Instant> {
        RFC6762.refreshPercentages.map { start + lifetime * (Double($0) / 100 + jitter) }[...]
    }

    /// Lets it expire, without asking for it again.
    mutating func end(by instant: Instant) {
        expires = min(expires, instant)
        refreshes = []
    }

    /// §10.4: the end of a life is played in ten seconds, with its refreshes at once and after 2.5, 5 and 7.5 s.
    mutating func doubt(now: Instant) {
        guard expires > now + RFC6762.reconfirmation, !isDoubted else { return }
        isDoubted = true
        expires = now + RFC6762.reconfirmation
        let lifetime = RFC6762.reconfirmation * 5
        refreshes = Self.refreshes(lifetime, from: now - lifetime * 4 / 5, jitter: 0)
    }

    var deadline: Instant { refreshes.first.map { min($0, expires) } ?? expires }

    /// True when a refresh was due; several that are overdue count once.
    mutating func takeRefresh(now: Instant) -> Bool {
        let due = refreshes.prefix { $0 <= now }.count
        refreshes = refreshes.dropFirst(due)
        return due > 0
    }

    func knownAnswer(now: Instant) -> Record? {
        let left = expires - now
        guard !isReplaced, !isDoubted, left * 2 >= .seconds(Int(record.timeToLive)), left >= .seconds(1) else {
            return nil
        }
        var known = record
        known.timeToLive = UInt32(clamping: left.components.seconds)
        // §10.2: the cache-flush bit must not stand in a list of known answers.
        known.isCacheFlush = false
        return known
    }

    /// About what the record takes, in bytes.
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
