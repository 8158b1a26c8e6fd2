public import ServiceDiscovery

/// A registered service. It remains registered until it is cancelled.
public struct Registration: Sendable {
    /// The announced names of the service. The first one follows the first announcement (0.75 to 1 s after a network is
    /// available). A further one follows each change of the name, after a conflict with another host or after
    /// ``replace(with:)``. Only the newest unread name is buffered. The sequence is for one reader, and ends with the
    /// registration.
    public let names: AsyncStream<String>
    let id: RegistrationID
    let discovery: Discovery

    /// The name under which the service is announced; nil before its first announcement and after its end.
    public var name: String? {
        get async { await discovery.registrations[id]?.name }
    }

    /// Announces new TXT attributes.
    public func updateTXT(_ txt: TXTRecord) async { await discovery.handle(.updateTXT(id, txt)) }

    /// Replaces the service with a different one, for example with a different name; ``names`` contains the name once
    /// it is claimed.
    public func replace(with service: ServiceRegistration) async { await discovery.handle(.register(id, service)) }

    /// Sends a goodbye for the service and ends the registration.
    public func cancel() async { await discovery.cancelRegistration(id) }
}

struct RegistrationState {
    var name: String?
    let names: AsyncStream<String>.Continuation
}

/// The changes of a registration for callers on the event loop of the discovery.
extension Discovery {
    /// Announces new TXT attributes, as ``Registration/updateTXT(_:)`` does.
    public func update(_ registration: Registration, txt: TXTRecord) { handle(.updateTXT(registration.id, txt)) }

    /// Replaces the service, as ``Registration/replace(with:)`` does.
    public func replace(_ registration: Registration, with service: ServiceRegistration) {
        handle(.register(registration.id, service))
    }

    /// Sends a goodbye for the service and ends the registration, as ``Registration/cancel()`` does.
    public func cancel(_ registration: Registration) { cancelRegistration(registration.id) }
}

extension Discovery {
    /// Registers a service and returns immediately. The service is announced when its name has been claimed, on all
    /// current and future interfaces.
    ///
    /// - Throws: ``NetworkError/stopped`` or ``NetworkError/tooManyRegistrations(limit:)``.
    public func register(_ service: ServiceRegistration) throws(NetworkError) -> Registration {
        guard !isStopped else { throw .stopped }
        guard registrations.count < configuration.registrationLimit else {
            throw .tooManyRegistrations(limit: configuration.registrationLimit)
        }
        let id = RegistrationID(rawValue: newIdentifier())
        let (names, continuation) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
        registrations[id] = RegistrationState(names: continuation)
        handle(.register(id, service))
        return Registration(names: names, id: id, discovery: self)
    }

    func registered(_ id: RegistrationID, _ name: String) {
        // A repeated announcement, for example after a change of the network, is not reported.
        guard registrations[id]?.name != name else { return }
        registrations[id]?.name = name
        registrations[id]?.names.yield(name)
    }

    func cancelRegistration(_ id: RegistrationID) {
        guard let registration = registrations.removeValue(forKey: id) else { return }
        registration.names.finish()
        handle(.unregister(id))
    }
}
