public import ServiceDiscovery

/// Where a service is, or that it is not there.
public enum Resolution: Sendable, Hashable {
    case resolved(ResolvedService)
    /// It was resolved and is gone; it may come back.
    case gone
}

extension Discovery {
    /// Where the service is, live: at once if it is known, else when somebody answers, and again whenever that changes or is
    /// heard anew. It says nothing while nobody answers. A slow reader sees the newest. The resolve ends when the reader stops,
    /// or to make room where too many are resolved.
    public nonisolated func resolve(_ identity: ServiceIdentity) -> AsyncStream<Resolution> {
        let (stream, continuation) = AsyncStream<Resolution>.makeStream(bufferingPolicy: .bufferingNewest(1))
        begin(identity, continuation)
        return stream
    }

    /// Where the service is, once.
    ///
    /// - Throws: ``DiscoveryError/notFound(name:within:)`` when the time is over, ``DiscoveryError/stopped``, or
    ///   `CancellationError`.
    public nonisolated func resolveOnce(
        _ identity: ServiceIdentity, timeout: Duration = .seconds(5)
    ) async throws -> ResolvedService {
        let (stream, continuation) = AsyncStream<Resolution>.makeStream(bufferingPolicy: .bufferingNewest(1))
        begin(identity, continuation)
        let end = eventLoop.scheduleTask(in: .nanoseconds(timeout.wholeNanoseconds)) { continuation.finish() }
        defer { end.cancel() }
        for await case .resolved(let service) in stream { return service }
        try Task.checkCancellation()
        throw await isStopped ? DiscoveryError.stopped : .notFound(name: identity.name, within: timeout)
    }

    /// These services matter: whatever others announce, what leads to them is kept and looked for. It replaces what was said before.
    public nonisolated func favour(_ services: Set<ServiceIdentity>) {
        eventLoop.execute { self.assumeIsolated { $0.handle(.favour(services)) } }
    }

    private nonisolated func begin(_ identity: ServiceIdentity, _ continuation: AsyncStream<Resolution>.Continuation) {
        let id = ResolveID(rawValue: newIdentifier())
        // Both go through the loop's queue, so that an end that follows at once still comes after the beginning.
        continuation.onTermination = { _ in
            self.eventLoop.execute { self.assumeIsolated { $0.endResolve(id) } }
        }
        eventLoop.execute { self.assumeIsolated { $0.beginResolve(id, identity, continuation) } }
    }

    private func beginResolve(
        _ id: ResolveID, _ identity: ServiceIdentity, _ continuation: AsyncStream<Resolution>.Continuation
    ) {
        guard !isStopped else { return continuation.finish() }
        resolves[id] = continuation
        handle(.resolve(id, identity))
    }

    private func endResolve(_ id: ResolveID) {
        guard resolves.removeValue(forKey: id) != nil else { return }
        handle(.cancelResolve(id))
    }

    /// Tells that the service did not answer: unless somebody confirms its records within ten seconds, it is gone.
    public func reconfirm(_ identity: ServiceIdentity) { handle(.reconfirm(identity)) }
}
