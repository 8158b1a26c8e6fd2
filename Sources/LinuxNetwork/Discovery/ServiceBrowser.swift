public import ServiceDiscovery

/// A change of what is there, and whether the next one is at hand.
public struct BrowseEvent: Hashable, Sendable {
    public let change: ServiceChange
    /// True when more changes wait: a screen is better drawn after the last of them.
    public let moreComing: Bool

    public init(_ change: ServiceChange, moreComing: Bool) {
        self.change = change
        self.moreComing = moreComing
    }
}

/// The services of a type, live: what is known at once, then every change until the reader stops.
///
///     for await event in ServiceBrowser("_smartplug._tcp", in: discovery) {
///         update(event.change)
///         if !event.moreComing { redraw() }
///     }
///
/// Each iteration browses on its own and costs network traffic only while it lasts. Changes of one service that a slow reader has
/// not taken yet are put together into one.
public struct ServiceBrowser: AsyncSequence, Sendable {
    public typealias Element = BrowseEvent
    public typealias Failure = Never

    let discovery: Discovery
    let type: ServiceType

    public init(_ type: ServiceType, in discovery: Discovery) {
        self.discovery = discovery
        self.type = type
    }

    public func makeAsyncIterator() -> Iterator {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = BrowseID(rawValue: discovery.newIdentifier())
        let (discovery, type) = (discovery, type)
        // Both go through the loop's queue, so that an end that follows at once still comes after the beginning.
        continuation.onTermination = { _ in
            discovery.eventLoop.execute { discovery.assumeIsolated { $0.endBrowse(id) } }
        }
        discovery.eventLoop.execute { discovery.assumeIsolated { $0.beginBrowse(id, type, continuation) } }
        return Iterator(discovery: discovery, id: id, signals: signals.makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        let discovery: Discovery
        let id: BrowseID
        var signals: AsyncStream<Void>.Iterator

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> BrowseEvent? {
            while true {
                if let event = await discovery.takeChange(id) { return event }
                // A signal may be left from a change that was taken already; the end of the signals is the end.
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
        }
    }
}

struct BrowseState {
    var pending = PendingChanges()
    let signal: AsyncStream<Void>.Continuation
}

extension Discovery {
    /// Browses for services: `for await event in discovery.browse("_smartplug._tcp")`.
    public nonisolated func browse(_ type: ServiceType) -> ServiceBrowser { ServiceBrowser(type, in: self) }

    func beginBrowse(_ id: BrowseID, _ type: ServiceType, _ signal: AsyncStream<Void>.Continuation) {
        guard !isStopped else { return signal.finish() }
        guard browses.count < configuration.browseLimit else {
            logger.error("\(browses.count) browses are running, which is the limit; one for \(type) was refused")
            return signal.finish()
        }
        browses[id] = BrowseState(signal: signal)
        handle(.browse(id, type))
    }

    func endBrowse(_ id: BrowseID) {
        guard browses.removeValue(forKey: id) != nil else { return }
        handle(.cancelBrowse(id))
    }

    func browsed(_ id: BrowseID, _ change: ServiceChange) {
        browses[id]?.pending.add(change)
        browses[id]?.signal.yield()
    }

    func takeChange(_ id: BrowseID) -> BrowseEvent? {
        guard let change = browses[id]?.pending.popFirst() else { return nil }
        return BrowseEvent(change, moreComing: browses[id]?.pending.isEmpty == false)
    }
}
