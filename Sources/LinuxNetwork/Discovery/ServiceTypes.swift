public import ServiceDiscovery

extension Discovery {
    /// The types of services that are on the network, live: all of them each time, whenever that changes. A slow reader sees the
    /// newest. The search ends when the reader stops.
    public nonisolated func serviceTypes() -> AsyncStream<[ServiceType]> {
        let (stream, continuation) = AsyncStream<[ServiceType]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = BrowseID(rawValue: newIdentifier())
        // Both go through the loop's queue, so that an end that follows at once still comes after the beginning.
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
