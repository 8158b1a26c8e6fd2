internal import MatterSessions
internal import MatterWire
internal import ProtocolCore

/// The limits of subscriptions.
enum SubscriptionLimits {
    /// The limit of all subscriptions. It bounds the memory and the number of reports after a change.
    static let total = 20
    /// The number of subscriptions that each fabric can have in any case (Matter 2.11.2.2). Five fabrics need 15.
    static let perFabric = 3
    /// The largest time between two reports in seconds (SUBSCRIPTION_MAX_INTERVAL_PUBLISHER_LIMIT). It bounds the time
    /// for which a vanished subscriber occupies a place.
    static let longestInterval: UInt16 = 3600
    /// The smallest maximum interval in seconds. It bounds the number of reports without changes.
    static let shortestInterval: UInt16 = 1
}

extension InteractionServer {
    // MARK: Subscribe (Matter 8.5)

    mutating func subscribe(
        _ request: SubscribeRequest, on exchange: ExchangeID, from accessor: Accessor, now: Instant
    ) {
        let read = request.read
        guard request.minInterval <= request.maxInterval, read.attributes.allSatisfy(\.isValid),
            read.events.allSatisfy(\.isValid)
        else { return finish(exchange, .invalidAction) }
        if !request.keepsSubscriptions {
            subscriptions = subscriptions.filter { !$0.value.belongs(to: accessor) }
        }
        guard selectsAny(read, for: accessor) else { return finish(exchange, .invalidAction) }
        guard makeRoom(for: accessor) else { return finish(exchange, .resourceExhausted) }
        let longest = min(request.maxInterval, SubscriptionLimits.longestInterval)
        let interval = max(longest, request.minInterval, SubscriptionLimits.shortestInterval)
        // Earlier changes are part of the first report and not of the next one.
        collectChanges()
        collectEvents()
        var subscription = Subscription(
            id: newSubscriptionID(), accessor: accessor, request, maxInterval: interval, now: now)
        subscription.lastEvent = newestEvent
        subscriptions[subscription.id] = subscription
        let chunks = chunks(of: read, for: accessor, subscription: subscription.id, now: now)
        sendNext(PendingReport(subscription: subscription.id, chunks), on: exchange, from: accessor, now: now)
    }

    private mutating func newSubscriptionID() -> UInt32 {
        while true {
            let id = UInt32.random(in: 1...UInt32.max, using: &random)
            if subscriptions[id] == nil { return id }
        }
    }

    /// Returns false if the table is full. A fabric with fewer subscriptions than its share replaces one of the fabric
    /// that has the most.
    private mutating func makeRoom(for accessor: Accessor) -> Bool {
        guard subscriptions.count >= SubscriptionLimits.total else { return true }
        let counts = subscriptions.values.reduce(into: [UInt8?: Int]()) { $0[$1.accessor.fabric, default: 0] += 1 }
        guard counts[accessor.fabric, default: 0] < SubscriptionLimits.perFabric,
            let most = counts.values.max(), most > SubscriptionLimits.perFabric,
            let victim = subscriptions.values.filter({ counts[$0.accessor.fabric] == most })
                .min(by: { ($0.reportedAt, $0.id) < ($1.reportedAt, $1.id) })
        else { return false }
        lose(victim.id)
        return true
    }

    /// Handles the confirmation of the last chunk of a report.
    mutating func delivered(_ id: UInt32, on exchange: ExchangeID, now: Instant) {
        guard let subscription = subscriptions[id] else { return close(exchange) }
        subscriptions[id]?.phase = .idle
        guard !subscription.isActive else { return close(exchange) }
        subscriptions[id]?.reportedAt = now
        let seconds = UInt16(clamping: subscription.maxInterval.components.seconds)
        send(.subscribed(id: id, maxInterval: seconds), on: exchange, isLast: true)
        report(
            .subscribed(id: id, fabric: subscription.accessor.fabric, maxInterval: subscription.maxInterval))
    }

    // MARK: Reports

    /// Collects the node's changes and begins the reports that are due.
    mutating func update(now: Instant, opening opener: inout some ExchangeOpener) {
        collectChanges()
        collectEvents()
        let due = subscriptions.values.filter { $0.deadline.map { $0 <= now } ?? false }
        for subscription in due.sorted(by: { $0.id < $1.id }) {
            report(subscription, now: now, opening: &opener)
        }
    }

    private mutating func collectChanges() {
        let changes = node.takeChanges()
        guard !changes.isEmpty, !subscriptions.isEmpty else { return }
        let reported = changes.filter { path in
            guard let definition = node.definition(of: path.cluster, on: path.endpoint),
                let attribute = definition.attribute(path.member)
            else { return false }
            return !attribute.changesOmitted
        }
        for (id, subscription) in subscriptions {
            let selected = reported.filter { path in subscription.request.attributes.contains { $0.contains(path) } }
            if !selected.isEmpty { subscriptions[id]?.changes.formUnion(selected) }
        }
    }

    private mutating func collectEvents() {
        let events = node.events(after: newestEvent)
        guard let newest = events.last?.number else { return }
        newestEvent = newest
        for (id, subscription) in subscriptions where !subscription.hasUrgentEvent {
            let urgent = subscription.request.events.filter(\.isUrgent)
            guard !urgent.isEmpty else { continue }
            let isUrgent = events.contains { event in
                urgent.contains { $0.contains(event.path) } && mayRead(event, for: subscription.accessor)
            }
            if isUrgent { subscriptions[id]?.hasUrgentEvent = true }
        }
    }

    /// Sends the changes since the last report, or an empty report if nothing has changed.
    private mutating func report(
        _ subscription: Subscription, now: Instant, opening opener: inout some ExchangeOpener
    ) {
        let (id, accessor, request) = (subscription.id, subscription.accessor, subscription.request)
        guard let exchange = accessor.session.flatMap({ opener.openExchange(on: $0) }) else {
            subscriptions[id]?.retryAt = now + Subscription.retryTime
            return
        }
        var chunks = ReportChunks(subscription: id, limit: messageLimit)
        for report in changeReports(subscription.changes, request, for: accessor, now: now) { chunks.add(report) }
        let events = request.events.isEmpty ? [] : node.events(after: subscription.lastEvent)
        for report in reports(of: events, request, for: accessor) { chunks.add(report) }
        var next = subscription
        next.lastEvent = events.last?.number ?? subscription.lastEvent
        (next.phase, next.reportedAt, next.retryAt) = (.reporting, now, nil)
        (next.changes, next.hasUrgentEvent) = ([], false)
        subscriptions[id] = next
        sendNext(PendingReport(subscription: id, chunks.messages()), on: exchange, from: accessor, now: now)
    }
}
