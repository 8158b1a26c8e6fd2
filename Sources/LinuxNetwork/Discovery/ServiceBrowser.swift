public import ServiceDiscovery

/// The services of a type, live: what is known at once, then every change until the reader stops.
///
/// Each iteration browses on its own and costs network traffic only while it lasts.
public struct ServiceBrowser: AsyncSequence, Sendable {
    public typealias Element = ServiceChange
    public typealias Failure = Never

    let discovery: Discovery
    let type: ServiceType

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

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ServiceChange? {
            while true {
                if let change = await discovery.takeChange(id) { return change }
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
    /// Browses for services: `for await change in discovery.browse("_smartplug._tcp")`.
    public nonisolated func browse(_ type: ServiceType) -> ServiceBrowser {
        ServiceBrowser(discovery: self, type: type)
    }

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

    func takeChange(_ id: BrowseID) -> ServiceChange? { browses[id]?.pending.popFirst() }
}
