import DNSWire
import ProtocolCore

/// A cached record and the course of its life (RFC 6762 §5.2, §10).
struct CacheEntry: Sendable {
    private(set) var record: Record
    /// In order of arrival, so that a run repeats exactly.
    let serial: UInt64
    /// Nothing that others announce takes its place.
    var isFavoured: Bool
    private(set) var received: Instant
    private(set) var expires: Instant
    /// A record with the cache-flush bit came that replaces this one (§10.2).
    var isReplaced = false
    /// Somebody found it wrong (§10.4): it is asked for even when nobody wants it.
    private(set) var isDoubted = false
    /// When to ask again; nil when it is left to expire.
    private var refresh: RefreshPlan?
    /// How many queries of others this record should have answered since it was heard last, and when the last one came (§10.5).
    private var unanswered: (count: Int, last: Instant)?

    init(record: Record, now: Instant, jitter: Double, serial: UInt64, isFavoured: Bool) {
        self.record = record
        self.serial = serial
        self.isFavoured = isFavoured
        received = now
        expires = now
        renew(with: record, now: now, jitter: jitter)
    }

    /// The record was heard again.
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

    /// Lets it expire, without asking for it again.
    mutating func end(by instant: Instant) {
        expires = min(expires, instant)
        refresh = nil
    }

    /// §10.4: the end of a life is played in ten seconds, with its refreshes at once and after 2.5, 5 and 7.5 s.
    mutating func doubt(now: Instant) {
        guard expires > now + RFC6762.reconfirmation, !isDoubted else { return }
        isDoubted = true
        expires = now + RFC6762.reconfirmation
        let lifetime = RFC6762.reconfirmation * 5
        refresh = RefreshPlan(from: now - lifetime * 4 / 5, lifetime: lifetime, jitter: 0)
    }

    /// §10.5: somebody asks for this record and does not know it. Whoever has it may stay silent for a second after sending it;
    /// a query that comes in both families counts once.
    ///
    /// - Returns: true when so many went unanswered that the record is in doubt.
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

    /// The record is asked for now: every refresh that is due is done, and the one that may be.
    mutating func noteRefresh(now: Instant) { refresh = refresh.flatMap { $0.after(now) } }

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
