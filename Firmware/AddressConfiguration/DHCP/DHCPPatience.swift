import ProtocolCore

/// The delay after failures, which prevents a server that always refuses from causing a packet storm: none after the
/// first failure, then the delay of retransmissions.
struct DHCPBackoff: Hashable, Sendable {
    private var failures = 0
    private var last: Instant?

    /// The time without a failure after which the delay restarts.
    static let memory = Duration.seconds(600)

    mutating func waitAfterFailure(now: Instant, using random: inout SeededRandom) -> Duration {
        if let last, now - last > Self.memory { failures = 0 }
        last = now
        defer { failures = min(failures + 1, RFC2131.retransmissions.count) }
        return failures == 0 ? .zero : RFC2131.retransmission(failures - 1, using: &random)
    }
}

/// Limits how often exchanges begin, for example when a link goes up and down repeatedly. A token bucket.
struct DHCPStartLimit: Hashable, Sendable {
    /// The number of exchanges that may begin at once.
    static let burst = 20
    /// The interval that adds one further exchange.
    static let interval = Duration.seconds(4)

    /// The time at which the bucket is full again.
    private var full: Instant?

    /// Returns the time at which the next exchange may begin: now or later.
    func earliest(now: Instant) -> Instant {
        max(now, (full ?? now) - Self.interval * (Self.burst - 1))
    }

    mutating func begin(now: Instant) {
        full = max(full ?? now, now) + Self.interval
    }
}

/// Values that are remembered for some time.
struct RecentValues<Value: Hashable & Sendable>: Hashable, Sendable {
    private struct Entry: Hashable {
        let value: Value
        let until: Instant
    }

    /// The limit of values, above which the oldest is dropped. It bounds the memory if a server offers many occupied
    /// addresses.
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
    /// Returns the delay after this number of retransmissions.
    static func retransmission(_ count: Int, using random: inout SeededRandom) -> Duration {
        retransmissions[min(count, retransmissions.count - 1)]
            + random.duration(in: (.zero - jitter)...jitter)
    }
}
