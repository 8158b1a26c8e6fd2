public import ServiceDiscovery

/// The current result of resolving a service.
public enum Resolution: Sendable, Hashable {
    /// The service is available at this host and port.
    case resolved(ResolvedService)
    /// The service was resolved before and is gone; it may return.
    case gone
}

extension Discovery {
    /// Resolves a service continuously. The sequence yields a value immediately if the service is known, or at the
    /// first answer, and then at each change or new announcement. Without an answer it yields nothing. Only the newest
    /// unread value is buffered. The sequence ends when the reader or the discovery stops, or when a later resolve
    /// displaces this one because of the limit of resolves.
    public nonisolated func resolve(_ identity: ServiceIdentity) -> AsyncStream<Resolution> {
        let (stream, continuation) = AsyncStream<Resolution>.makeStream(bufferingPolicy: .bufferingNewest(1))
        begin(identity, continuation)
        return stream
    }

    /// Resolves a service once.
    ///
    /// - Throws: ``NetworkError/notFound(name:within:)`` after the timeout or if a later resolve displaces this one,
    ///   ``NetworkError/stopped``, or `CancellationError`.
    public nonisolated func resolveOnce(
        _ identity: ServiceIdentity, timeout: Duration = .seconds(5)
    ) async throws -> ResolvedService {
        let (stream, continuation) = AsyncStream<Resolution>.makeStream(bufferingPolicy: .bufferingNewest(1))
        begin(identity, continuation)
        let end = eventLoop.scheduleTask(in: .nanoseconds(timeout.wholeNanoseconds)) { continuation.finish() }
        defer { end.cancel() }
        for await case .resolved(let service) in stream { return service }
        try Task.checkCancellation()
        throw await isStopped ? NetworkError.stopped : .notFound(name: identity.name, within: timeout)
    }

    /// Sets the priority services. The cache keeps the records of these services even if other services announce more
    /// records than it can hold. The new set replaces the previous one.
    public nonisolated func prioritize(_ services: Set<ServiceIdentity>) {
        eventLoop.execute { self.assumeIsolated { $0.handle(.prioritize(services)) } }
    }

    private nonisolated func begin(_ identity: ServiceIdentity, _ continuation: AsyncStream<Resolution>.Continuation) {
        let id = ResolveID(rawValue: newIdentifier())
        // Both closures are queued on the event loop, so that an immediate end is handled after the beginning.
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
        if identity.isLocal {
            handle(.resolve(id, identity))
        } else {
            domainServices.resolve(id, identity)
        }
    }

    private func endResolve(_ id: ResolveID) {
        guard resolves.removeValue(forKey: id) != nil else { return }
        handle(.cancelResolve(id))
        domains?.end(id)
    }

    /// Reports that the service did not answer. If no host confirms its records within ten seconds, they are removed.
    /// Only for services in `local`, because the records of name servers expire by themselves.
    public func reconfirm(_ identity: ServiceIdentity) {
        if identity.isLocal { handle(.reconfirm(identity)) }
    }
}
