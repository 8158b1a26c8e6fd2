public import DNSWire
public import ServiceDiscovery

/// A change of the available services.
public struct BrowseEvent: Hashable, Sendable {
    /// The change.
    public let change: ServiceChange
    /// True if more changes follow immediately: a display should be redrawn after the last one.
    public let moreComing: Bool

    /// Creates an event.
    public init(_ change: ServiceChange, moreComing: Bool) {
        self.change = change
        self.moreComing = moreComing
    }
}

/// The services of a type: the known ones immediately, then every change until the reader stops.
///
///     for await event in ServiceBrowser("_smartplug._tcp", in: discovery) {
///         update(event.change)
///         if !event.moreComing { redraw() }
///     }
///
/// Each iteration browses independently and causes network traffic only while it runs. Unread changes of the same
/// service are merged into one.
public struct ServiceBrowser: AsyncSequence, Sendable {
    public typealias Element = BrowseEvent
    public typealias Failure = Never

    let discovery: Discovery
    let type: ServiceType
    let domains: [Name]
    let includesRecommended: Bool

    /// Creates a browser for services of a type; each iteration starts its own browse.
    ///
    /// - Parameters:
    ///   - domains: `local`, and domains of name servers, such as `example.org`.
    ///   - includesRecommended: true to browse the domains that the network recommends, too.
    public init(
        _ type: ServiceType, in discovery: Discovery, domains: [Name] = [DiscoveryNode.domain],
        includesRecommended: Bool = false
    ) {
        self.discovery = discovery
        self.type = type
        self.domains = domains
        self.includesRecommended = includesRecommended
    }

    /// Starts a browse.
    public func makeAsyncIterator() -> Iterator {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = BrowseID(rawValue: discovery.newIdentifier())
        let (discovery, browser) = (discovery, self)
        // Both closures are queued on the event loop, so that an immediate end is handled after the beginning.
        continuation.onTermination = { _ in
            discovery.eventLoop.execute { discovery.assumeIsolated { $0.endBrowse(id) } }
        }
        discovery.eventLoop.execute { discovery.assumeIsolated { $0.begin(browser, id, continuation) } }
        return Iterator(discovery: discovery, id: id, signals: signals.makeAsyncIterator())
    }

    /// A running browse. It ends when the iterator is released or the discovery stops.
    public struct Iterator: AsyncIteratorProtocol {
        let discovery: Discovery
        let id: BrowseID
        var signals: AsyncStream<Void>.Iterator
        /// The unread rest of the changes that one call fetched from the discovery. One packet may cause dozens of
        /// changes.
        private var taken = PendingChanges()

        init(discovery: Discovery, id: BrowseID, signals: AsyncStream<Void>.Iterator) {
            self.discovery = discovery
            self.id = id
            self.signals = signals
        }

        /// Returns the next change; nil when the discovery has stopped, or if the limit of browses was reached.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> BrowseEvent? {
            while true {
                if let change = taken.popFirst() { return BrowseEvent(change, moreComing: !taken.isEmpty) }
                taken = await discovery.takeChanges(id)
                if !taken.isEmpty { continue }
                // The signal may belong to a change that was already fetched. The end of the signals is the end of the
                // browse.
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
    /// Browses for services of a type, as in `for await event in discovery.browse("_smartplug._tcp")`.
    public nonisolated func browse(
        _ type: ServiceType, in domains: [Name] = [DiscoveryNode.domain], includesRecommended: Bool = false
    ) -> ServiceBrowser {
        ServiceBrowser(type, in: self, domains: domains, includesRecommended: includesRecommended)
    }

    func begin(_ browser: ServiceBrowser, _ id: BrowseID, _ signal: AsyncStream<Void>.Continuation) {
        guard !isStopped else { return signal.finish() }
        guard browses.count < configuration.browseLimit else {
            logger.error(
                "\(browses.count) browses are running, which is the limit; one for \(browser.type) was refused")
            return signal.finish()
        }
        browses[id] = BrowseState(signal: signal)
        for domain in Set(browser.domains) {
            if domain == DiscoveryNode.domain {
                handle(.browse(id, browser.type))
            } else {
                domainServices.browse(id, browser.type, in: domain)
            }
        }
        if browser.includesRecommended { domainServices.browseRecommended(id, browser.type) }
    }

    func endBrowse(_ id: BrowseID) {
        guard browses.removeValue(forKey: id) != nil else { return }
        handle(.cancelBrowse(id))
        domains?.end(id)
    }

    func browsed(_ id: BrowseID, _ change: ServiceChange) {
        browses[id]?.pending.add(change)
        browses[id]?.signal.yield()
    }

    func takeChanges(_ id: BrowseID) -> PendingChanges {
        defer { browses[id]?.pending = PendingChanges() }
        return browses[id]?.pending ?? PendingChanges()
    }
}
