import ServiceDiscovery

/// Changes that a reader has not taken yet, at most one a service: a slow reader gets the sum of what happened. So the queue
/// is never longer than the services that the reader knows together with those in the cache.
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
            // The reader never knew of it.
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

extension ServiceChange {
    var identity: ServiceIdentity {
        switch self {
        case .found(let identity, _), .changed(let identity, _), .lost(let identity): identity
        }
    }
}
