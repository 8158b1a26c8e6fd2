import ServiceDiscovery

/// The changes that a reader has not read yet, at most one per service: later changes are merged into earlier ones. So
/// their number is bounded by the services that the reader knows plus those in the cache.
struct PendingChanges {
    private var order: [ServiceIdentity] = []
    private var changes: [ServiceIdentity: ServiceChange] = [:]

    var isEmpty: Bool { order.isEmpty }

    mutating func add(_ change: ServiceChange) {
        let identity = change.identity
        guard let waiting = changes[identity] else {
            order.append(identity)
            changes[identity] = change
            return
        }
        switch (waiting, change) {
        case (.found, .lost):
            // The reader never saw the service.
            changes[identity] = nil
            order.removeAll { $0 == identity }
        case (.found, .changed(_, let txt)): changes[identity] = .found(identity, txt: txt)
        case (.lost, .found(_, let txt)): changes[identity] = .changed(identity, txt: txt)
        case (.found, .found), (.changed, _), (.lost, _): changes[identity] = change
        }
    }

    mutating func popFirst() -> ServiceChange? {
        guard let identity = order.first else { return nil }
        order.removeFirst()
        return changes.removeValue(forKey: identity)
    }
}
