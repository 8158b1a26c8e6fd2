public import ServiceDiscovery

extension Discovery {
    /// Returns the service types on the network as a sequence of complete lists, with a new list at each change. Only
    /// the newest unread list is buffered. The search ends when the reader or the discovery stops, and immediately if
    /// the limit of searches is reached.
    public nonisolated func serviceTypes() -> AsyncStream<[ServiceType]> {
        let (stream, continuation) = AsyncStream<[ServiceType]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = BrowseID(rawValue: newIdentifier())
        // Both closures are queued on the event loop, so that an immediate end is handled after the beginning.
        continuation.onTermination = { _ in
            self.eventLoop.execute { self.assumeIsolated { $0.endTypes(id) } }
        }
        eventLoop.execute { self.assumeIsolated { $0.beginTypes(id, continuation) } }
        return stream
    }

    private func beginTypes(_ id: BrowseID, _ continuation: AsyncStream<[ServiceType]>.Continuation) {
        guard !isStopped else { return continuation.finish() }
        guard typeBrowses.count < configuration.browseLimit else {
            logger.error("\(typeBrowses.count) searches for service types are running, which is the limit")
            return continuation.finish()
        }
        typeBrowses[id] = continuation
        handle(.browseTypes(id))
    }

    private func endTypes(_ id: BrowseID) {
        guard typeBrowses.removeValue(forKey: id) != nil else { return }
        handle(.cancelBrowse(id))
    }
}
