import DNSWire
import ProtocolCore

/// The state of a group's claim on one interface (RFC 6762 §8).
enum Claim: Hashable {
    /// `sent` probes are sent. The next probe, or the first announcement after the last probe, is due at `next`.
    case probing(sent: Int, next: Instant)
    /// The host lost a tiebreak (§8.2) and probes again at `until`.
    case deferred(until: Instant)
    /// Probing succeeded, but the host name that the records point to is not claimed yet.
    case waiting
    /// `sent` announcements are sent. The next one is due at `next`.
    case announcing(sent: Int, next: Instant)
    /// All announcements are sent.
    case announced
    /// Another host has the name. The group's owner was notified and must choose a different one.
    case conflicted

    /// True if this host owns the name here and answers questions about it.
    var isClaimed: Bool {
        switch self {
        case .announcing, .announced: true
        case .probing, .deferred, .waiting, .conflicted: false
        }
    }

    /// True while the outcome is open.
    var isPending: Bool {
        switch self {
        case .probing, .deferred, .waiting: true
        case .announcing, .announced, .conflicted: false
        }
    }

    var deadline: Instant? {
        switch self {
        case .probing(_, let next), .announcing(_, let next): next
        case .deferred(let until): until
        case .waiting, .announced, .conflicted: nil
        }
    }
}

/// Slows down a host that has many conflicts in succession (RFC 6762 §8.1).
struct ConflictHistory {
    /// The times of at most ``RFC6762/conflictLimit`` conflicts, oldest first.
    private var recent: [Instant] = []
    private var isSlowed = false

    mutating func note(now: Instant) {
        recent.append(now)
        if recent.count > RFC6762.conflictLimit { recent.removeFirst() }
        if recent.count == RFC6762.conflictLimit, now - recent[0] <= RFC6762.conflictWindow { isSlowed = true }
    }

    /// The wait before the next attempt: zero until the limit of conflicts is reached, then ``RFC6762/conflictPause``
    /// until an attempt succeeds.
    var pause: Duration { isSlowed ? RFC6762.conflictPause : .zero }

    mutating func succeeded() { isSlowed = false }
}

/// Slows down an owner that changes its records constantly (RFC 6762 §8.4). Only the announcement is delayed; answers
/// contain the newest data.
struct UpdateHistory {
    /// The times of at most ``RFC6762/updateLimit`` announcements, oldest first; the last one may be in the future.
    private var announced: [Instant] = []

    /// Returns the announcement time of a change. Waiting changes are announced together.
    mutating func next(now: Instant) -> Instant {
        if let last = announced.last, last > now { return last }
        announced.removeAll { $0 + RFC6762.updateWindow <= now }
        guard announced.count >= RFC6762.updateLimit else {
            announced.append(now)
            return now
        }
        let next = announced.removeFirst() + RFC6762.updateWindow
        announced.append(next)
        return next
    }
}

/// This host's own records of the recent past. Its old packets may arrive late, for example from an access point or
/// reflector that echoes them, or through a second interface on the same link. They must not count as another host's
/// records.
struct FormerRecords {
    private var entries: [(record: Record, until: Instant)] = []
    /// The limit, which bounds the memory if addresses or TXT change constantly. The oldest entry is removed first.
    private static let limit = 64
    /// The lifetime of a host's records in caches.
    private static let lifetime: Duration = .seconds(Int(RFC6762.hostTimeToLive))

    mutating func remember(_ records: [Record], now: Instant) {
        entries.removeAll { $0.until <= now }
        entries += records.map { ($0, now + Self.lifetime) }
        if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
    }

    func contains(_ record: Record, now: Instant) -> Bool {
        entries.contains { $0.until > now && $0.record.hasSameContent(as: record) }
    }
}
