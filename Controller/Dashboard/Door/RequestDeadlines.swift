import ProtocolCore

/// When a connection is over that brings its requests too slowly, brings none, or takes no answer.
struct RequestDeadlines {
    private let limits: DoorLimits
    /// Until when the request that is coming in must have come.
    private var incoming: Instant?
    /// Requests without an answer.
    private(set) var unanswered = 0
    /// Those of them that have come as a whole.
    private var complete = 0
    private var hasAnswered = false
    /// Until when the next request must begin; counts while nothing else goes on.
    private var quietUntil: Instant
    private var stalledUntil: Instant?

    init(_ limits: DoorLimits, now: Instant) {
        self.limits = limits
        incoming = now + limits.request
        quietUntil = now + limits.request
    }

    /// Whether the connection only waits for its next request.
    var isIdle: Bool { incoming == nil && unanswered == 0 }

    /// What the connection does, for whom it makes room. A request that comes in slowly counts as none.
    var phase: ConnectionTable<ObjectIdentifier>.Phase {
        if complete > 0 { return .busy }
        return hasAnswered ? .waiting : .silent
    }

    /// When the connection is to be cut off; nil for as long as an answer goes out.
    var nextDeadline: Instant? {
        [incoming, stalledUntil, isIdle ? quietUntil : nil].compactMap(\.self).min()
    }

    mutating func receivedBytes(now: Instant) {
        // The bytes that begin a request, however few, begin its time; those that go on with it add nothing.
        guard incoming == nil else { return }
        incoming = now + limits.request
    }

    mutating func receivedHead(now: Instant) {
        unanswered += 1
        incoming = now + limits.request
    }

    mutating func receivedEnd(now: Instant) {
        incoming = nil
        complete = min(complete + 1, unanswered)
    }

    mutating func answered(now: Instant) {
        unanswered = max(0, unanswered - 1)
        complete = max(0, complete - 1)
        hasAnswered = true
        quietUntil = now + limits.idle
    }

    mutating func becameWritable(_ isWritable: Bool, now: Instant) {
        stalledUntil = isWritable ? nil : stalledUntil ?? now + limits.stalled
    }
}
