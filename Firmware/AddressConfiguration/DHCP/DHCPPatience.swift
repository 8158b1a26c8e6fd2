import ProtocolCore

/// How long to wait after things went wrong, so that a server that always refuses makes no storm: nothing after the first failure,
/// then as long as between retransmissions.
struct DHCPBackoff: Hashable, Sendable {
    private var failures = 0
    private var last: Instant?

    /// After so long without a failure it begins anew.
    static let memory = Duration.seconds(600)

    mutating func waitAfterFailure(now: Instant, using random: inout SeededRandom) -> Duration {
        if let last, now - last > Self.memory { failures = 0 }
        last = now
        defer { failures = min(failures + 1, RFC2131.retransmissions.count) }
        return failures == 0 ? .zero : RFC2131.retransmission(failures - 1, using: &random)
    }
}

/// How often exchanges may begin, whatever makes them: a link that comes and goes all the time, for one. A token bucket.
struct DHCPStartLimit: Hashable, Sendable {
    /// At once.
    static let burst = 20
    /// One more in each.
    static let interval = Duration.seconds(4)

    /// When the bucket is full again.
    private var full: Instant?

    /// When the next one may begin: now or later.
    func earliest(now: Instant) -> Instant {
        max(now, (full ?? now) - Self.interval * (Self.burst - 1))
    }

    mutating func begin(now: Instant) {
        full = max(full ?? now, now) + Self.interval
    }
}

/// Values that are kept in mind for some time.
struct RecentValues<Value: Hashable & Sendable>: Hashable, Sendable {
    private struct Entry: Hashable {
        let value: Value
        let until: Instant
    }

    /// Beyond it the oldest is forgotten: a server that offers a thousand taken addresses fills no memory.
    static var limit: Int { 16 }

    private var entries: [Entry] = []

    mutating func insert(_ value: Value, until: Instant) {
        entries.removeAll { $0.value == value }
        if entries.count == Self.limit { entries.removeFirst() }
        entries.append(Entry(value: value, until: until))
    }

    func contains(_ value: Value, now: Instant) -> Bool {
        entries.contains { $0.value == value && now < $0.until }
    }
}

extension RFC2131 {
    /// The wait after so many retransmissions.
    static func retransmission(_ count: Int, using random: inout SeededRandom) -> Duration {
        retransmissions[min(count, retransmissions.count - 1)]
            + random.duration(in: (.zero - jitter)...jitter)
    }
}
