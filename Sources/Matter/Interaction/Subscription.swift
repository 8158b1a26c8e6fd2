internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// A subscription of a peer to attributes and events (Matter 8.5).
struct Subscription: Sendable {
    enum Phase: Hashable, Sendable {
        /// The subscriber receives the first report, and is not active before it has confirmed it.
        case priming
        /// No report is in progress.
        case idle
        /// The subscriber must confirm a report.
        case reporting
    }

    /// The time before the maximum interval at which a report is sent, so that retransmissions are not too late.
    private static let margin = Duration.seconds(2)
    /// The time after which a report is retried if no exchange was available.
    static let retryTime = Duration.seconds(1)

    let id: UInt32
    let accessor: Accessor
    let request: ReadRequest
    let minInterval: Duration
    let maxInterval: Duration
    var phase = Phase.priming
    /// The time of the last report.
    var reportedAt: Instant
    /// Changed attributes that were not reported yet. Their number is limited by the attributes of the node.
    var changes: Set<ConcretePath> = []
    /// The number of the newest event that was reported, or that existed when the subscription began.
    var lastEvent: UInt64?
    /// True if an urgent event was not reported yet.
    var hasUrgentEvent = false
    /// The time before which a report is not retried.
    var retryAt: Instant?

    init(id: UInt32, accessor: Accessor, _ subscribe: SubscribeRequest, maxInterval: UInt16, now: Instant) {
        (self.id, self.accessor) = (id, accessor)
        request = subscribe.read
        minInterval = .seconds(Int64(subscribe.minInterval))
        self.maxInterval = .seconds(Int64(maxInterval))
        reportedAt = now
    }

    var isActive: Bool { phase != .priming }

    /// The time of the next report, or nil while a report is in progress.
    var deadline: Instant? {
        guard phase == .idle else { return nil }
        let due = changes.isEmpty && !hasUrgentEvent ? keepAlive : min(reportedAt + minInterval, keepAlive)
        return max(due, retryAt ?? due)
    }

    /// The time at which a report is due even if nothing has changed.
    var keepAlive: Instant {
        reportedAt + max(minInterval, maxInterval - min(Self.margin, maxInterval / 10))
    }

    /// Returns true if both accessors are the same peer: the same node of a fabric, or the same commissioning session.
    /// Groups cannot subscribe.
    func belongs(to accessor: Accessor) -> Bool {
        switch (self.accessor.kind, accessor.kind) {
        case (.operational(let mine), .operational(let other)): mine.fabric == other.fabric && mine.node == other.node
        case (.commissioning, .commissioning): self.accessor.session == accessor.session
        case (.commissioning, _), (.operational, _), (.group, _): false
        }
    }
}
