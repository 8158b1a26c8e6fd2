import DNSWire
import ProtocolCore

/// How far a group has come on one interface (RFC 6762 §8).
enum Claim: Hashable {
    /// `sent` probes are out; the next one, or after the last the first announcement, is due at `next`.
    case probing(sent: Int, next: Instant)
    /// Lost a tiebreak (§8.2): probes anew from `until` on.
    case deferred(until: Instant)
    /// Probed without objection, but the host name it points to is not claimed yet.
    case waiting
    case announcing(sent: Int, next: Instant)
    case announced
    /// Another host has the name; the owner of the group has been told and must choose another.
    case conflicted

    /// True once the name is ours here and questions about it are answered.
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

/// A group with its claims, one an interface.
struct PublishedGroup {
    var content: RecordGroup
    var claims: [InterfaceID: Claim] = [:]
    var conflicts = ConflictHistory()
    var updates = UpdateHistory()
    /// The owner has been told that this name is claimed.
    var isReported = false

    init(content: RecordGroup) { self.content = content }
}

/// Slows down a host that meets one conflict after the other (RFC 6762 §8.1).
struct ConflictHistory {
    /// At most ``RFC6762/conflictLimit``, the oldest first.
    private var recent: [Instant] = []
    private var isSlowed = false

    mutating func note(now: Instant) {
        recent.append(now)
        if recent.count > RFC6762.conflictLimit { recent.removeFirst() }
        if recent.count == RFC6762.conflictLimit, now - recent[0] <= RFC6762.conflictWindow { isSlowed = true }
    }

    /// How long the next attempt must wait. Once slowed down, each further attempt waits until one succeeds.
    var pause: Duration { isSlowed ? RFC6762.conflictPause : .zero }

    mutating func succeeded() { isSlowed = false }
}

/// Slows down an owner that changes its records all the time (RFC 6762 §8.4). What is held back is the announcement; questions
/// are answered with the newest data.
struct UpdateHistory {
    /// At most ``RFC6762/updateLimit``, the oldest first; the last may lie ahead.
    private var announced: [Instant] = []

    /// When a change of now is announced; changes that wait are announced together.
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

/// Our own records of the recent past. Old packets of ours may come back late (an access point or reflector echoes them, or a
/// second interface on the same link), and must not look like another host's.
struct FormerRecords {
    private var entries: [(record: Record, until: Instant)] = []
    /// Stops growth when addresses or TXT change all the time; the oldest goes first.
    private static let limit = 64
    /// As long as caches may keep a host's records.
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
