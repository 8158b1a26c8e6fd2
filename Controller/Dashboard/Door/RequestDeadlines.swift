import ProtocolCore

/// Computes the time at which a connection must be closed because its request arrives too slowly, because no request
/// arrives, or because its client accepts no bytes.
struct RequestDeadlines {
    private let limits: DoorLimits
    /// The deadline of the request that is arriving.
    private var incoming: Instant?
    /// The number of unanswered requests.
    private(set) var unanswered = 0
    /// The number of unanswered requests that have arrived completely.
    private var complete = 0
    private var hasAnswered = false
    /// The deadline for the start of the next request. It applies while the connection is idle.
    private var quietUntil: Instant
    private var stalledUntil: Instant?

    init(_ limits: DoorLimits, now: Instant) {
        self.limits = limits
        incoming = now + limits.request
        quietUntil = now + limits.request
    }

    /// True if the connection only waits for its next request.
    var isIdle: Bool { incoming == nil && unanswered == 0 }

    /// The phase for ``ConnectionTable``. An incomplete request does not make a connection busy.
    var phase: ConnectionTable<ObjectIdentifier>.Phase {
        if complete > 0 { return .busy }
        return hasAnswered ? .waiting : .silent
    }

    /// The time at which the connection is closed; nil while only an answer of the daemon is pending and the client
    /// accepts bytes.
    var nextDeadline: Instant? {
        [incoming, stalledUntil, isIdle ? quietUntil : nil].compactMap(\.self).min()
    }

    mutating func receivedBytes(now: Instant) {
        // The first bytes of a request start its time limit. Later bytes do not extend it; the complete head restarts
        // it.
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
