public import ServiceDiscovery

/// A service that is registered until it is cancelled.
public struct Registration: Sendable {
    /// The name under which the service is announced: once as soon as it is (0.75 to 1 s after there is a network), and again
    /// whenever another host's claim or ``replace(with:)`` made it change. A slow reader sees the newest. For one reader; it ends with the
    /// registration.
    public let names: AsyncStream<String>
    let id: RegistrationID
    let discovery: Discovery

    /// The name under which the service is announced now; nil before its first announcement and after its end.
    public var name: String? {
        get async { await discovery.registrations[id]?.name }
    }

    /// Announces other TXT attributes.
    public func updateTXT(_ txt: TXTRecord) async { await discovery.handle(.updateTXT(id, txt)) }

    /// Announces another service in the place of this one, under another name say; ``names`` has it once it is claimed.
    public func replace(with service: ServiceRegistration) async { await discovery.handle(.register(id, service)) }

    /// Says goodbye for the service.
    public func cancel() async { await discovery.cancelRegistration(id) }
}

struct RegistrationState {
    var name: String?
    let names: AsyncStream<String>.Continuation
}

extension Discovery {
    /// Registers a service. Returns at once: it is announced when its name is claimed, on every interface that is there or
    /// comes later.
    public func register(_ service: ServiceRegistration) throws(DiscoveryError) -> Registration {
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
        // Announcing again, after a change of the network say, is no news to the owner.
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
