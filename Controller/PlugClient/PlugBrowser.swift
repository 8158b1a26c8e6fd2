public import LinuxNetwork
import PlugModel
import ServiceDiscovery

/// The plugs of one or several domains: the known ones immediately, then every change until the reader stops. A plug
/// that is announced in `local` and registered in other domains is reported in `local` only.
public struct PlugBrowser: AsyncSequence, Sendable {
    public typealias Element = BrowseEvent
    public typealias Failure = Never

    let services: ServiceBrowser

    /// Starts a browse.
    public func makeAsyncIterator() -> Iterator { Iterator(services: services.makeAsyncIterator()) }

    /// A running browse. It ends when the iterator is released or the client stops.
    public struct Iterator: AsyncIteratorProtocol {
        private var services: ServiceBrowser.Iterator
        private var merge = PlugMerge()
        private var unread: [ServiceChange] = []

        init(services: ServiceBrowser.Iterator) { self.services = services }

        /// Returns the next change; nil when the client has stopped, or if the limit of browses was reached.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> BrowseEvent? {
            while unread.isEmpty {
                var moreComing = true
                while moreComing {
                    guard let event = await services.next(isolation: actor) else { return nil }
                    unread += merge.handle(event.change)
                    moreComing = event.moreComing
                }
            }
            let change = unread.removeFirst()
            return BrowseEvent(change, moreComing: !unread.isEmpty)
        }
    }
}

/// Hides the registrations of a plug in other domains while the plug is announced in `local`. The id in the attributes
/// decides which services are the same plug.
struct PlugMerge {
    /// The services in all domains, with their attributes.
    private var known: [ServiceIdentity: TXTRecord] = [:]
    private var plugs: [PlugID: Set<ServiceIdentity>] = [:]
    private var reported: Set<ServiceIdentity> = []

    /// Handles a change of the services.
    ///
    /// - Returns: The changes of the reported services. A service that replaces another one comes first.
    mutating func handle(_ change: ServiceChange) -> [ServiceChange] {
        let identity = change.identity
        let former = known[identity]?.plugID
        var isLost = false
        switch change {
        case .found(_, let txt), .changed(_, let txt): known[identity] = txt ?? known[identity] ?? TXTRecord()
        case .lost:
            known[identity] = nil
            isLost = true
        }
        let current = known[identity]?.plugID
        if let former, former != current { remove(identity, from: former) }
        if let current { plugs[current, default: []].insert(identity) }
        let isReported = reported.contains(identity)
        let changed = isLost || isHidden(identity) ? [] : [isReported ? change : found(identity, change)]
        let others = Set([former, current].compactMap { $0.flatMap { plugs[$0] } }.joined()).subtracting([identity])
        reported.formUnion(changed.map(\.identity))
        let appeared = others.filter { !isHidden($0) && reported.insert($0).inserted }
        let hidden = others.union([identity]).filter { known[$0] == nil || isHidden($0) }
        let disappeared = hidden.filter { reported.remove($0) != nil }
        return changed + ordered(appeared).map { .found($0, txt: known[$0]) } + ordered(disappeared).map { .lost($0) }
    }

    /// Returns the change that reports a service for the first time.
    private func found(_ identity: ServiceIdentity, _ change: ServiceChange) -> ServiceChange {
        if case .changed = change { .found(identity, txt: known[identity]) } else { change }
    }

    private mutating func remove(_ identity: ServiceIdentity, from plug: PlugID) {
        plugs[plug]?.remove(identity)
        if plugs[plug]?.isEmpty == true { plugs[plug] = nil }
    }

    private func isHidden(_ identity: ServiceIdentity) -> Bool {
        guard !identity.isLocal, let plug = known[identity]?.plugID else { return false }
        return plugs[plug, default: []].contains(where: \.isLocal)
    }

    /// Orders services, so that a run repeats exactly.
    private func ordered(_ services: Set<ServiceIdentity>) -> [ServiceIdentity] {
        services.sorted { ($0.domain, $0.name, $0.interface ?? 0) < ($1.domain, $1.name, $1.interface ?? 0) }
    }
}
