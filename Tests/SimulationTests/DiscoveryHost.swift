import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// A host that registers one service, browses for all services of its type and resolves those it finds.
struct DiscoveryHost: SimulatedHost {
    enum Stimulus {
        /// Stops with a goodbye.
        case stop
        case begin
        /// Resolves every found service again.
        case resolveAll
    }

    static let type: ServiceType = "_smartplug._tcp"
    private static let browse = BrowseID(rawValue: 1)
    private static let registration = RegistrationID(rawValue: 1)

    let wanted: ServiceRegistration
    private(set) var shell: DiscoveryShell?
    /// The announced name, or nil before the first announcement.
    private(set) var registered: String?
    /// The services that the browse reports, by name. The value is nil until the service is resolved.
    private(set) var found: [String: ResolvedService?] = [:]
    /// The last violated invariant of the browse, or nil.
    private(set) var violation: String?
    /// The number of sent datagrams, including those before a restart.
    private(set) var sent = 0
    private var resolving: [ResolveID: String] = [:]
    private var lastResolve: UInt64 = 0
    private var interface: (LANInterface, [LANAddress])?
    private var seed: UInt64 = 0

    init(_ wanted: ServiceRegistration) { self.wanted = wanted }

    var nextDeadline: Instant? { shell?.nextDeadline }

    mutating func handle(_ event: HostEvent<Stimulus>, now: Instant) -> [HostAction] {
        switch event {
        case .started(let start):
            seed = start.seed
            interface = nil
            return begin(now: now)
        case .interfaceUp(let interface, let addresses):
            self.interface = (interface, addresses)
            return perform(now) { $0.up(interface, addresses, now: now) }
        case .interfaceDown:
            interface = nil
            return perform(now) { $0.down(now: now) }
        case .datagram(let datagram, _): return perform(now) { $0.received(datagram, now: now) }
        case .deadlineReached: return perform(now, .deadlineReached)
        case .stimulus(.stop):
            let goodbye = perform(now, .stop)
            forget()
            return goodbye
        case .stimulus(.begin):
            guard shell == nil else { return [] }
            seed &+= 1
            return begin(now: now)
        case .stimulus(.resolveAll):
            return found.keys.sorted().flatMap { resolve($0, now: now) }
        case .accepted, .connected, .received, .writable, .closed, .wallClockStepped:
            return []
        }
    }

    private mutating func forget() {
        shell = nil
        registered = nil
        found = [:]
        resolving = [:]
    }

    private mutating func begin(now: Instant) -> [HostAction] {
        forget()
        shell = DiscoveryShell(seed: seed)
        var actions = perform(now, .browse(Self.browse, Self.type))
        actions += perform(now, .register(Self.registration, wanted))
        guard let (interface, addresses) = interface else { return actions }
        return actions + perform(now) { $0.up(interface, addresses, now: now) }
    }

    private mutating func resolve(_ name: String, now: Instant) -> [HostAction] {
        lastResolve += 1
        let id = ResolveID(rawValue: lastResolve)
        resolving[id] = name
        found[name] = .some(nil)
        return perform(now, .resolve(id, ServiceIdentity(name: name, type: Self.type)))
    }

    private mutating func perform(_ now: Instant, _ event: DiscoveryNode.Event) -> [HostAction] {
        perform(now) { $0.handle(event, now: now) }
    }

    private mutating func perform(
        _ now: Instant, _ step: (inout DiscoveryShell) -> DiscoveryShell.Outcome
    ) -> [HostAction] {
        guard var shell else { return [] }
        let outcome = step(&shell)
        self.shell = shell
        sent += outcome.datagrams.count
        return outcome.datagrams + outcome.news.flatMap { take($0, now: now) }
    }

    private mutating func take(_ news: DiscoveryNode.Action, now: Instant) -> [HostAction] {
        switch news {
        case .registered(_, let name):
            registered = name
            return []
        case .browse(_, .found(let identity, txt: _)):
            if found[identity.name] != nil { violation = "\(identity.name) was found twice" }
            return resolve(identity.name, now: now)
        case .browse(_, .lost(let identity)):
            if found.removeValue(forKey: identity.name) == nil {
                violation = "\(identity.name) was lost but was not found before"
            }
            return stopResolving(identity.name, now: now)
        case .browse(_, .changed(let identity, txt: _)):
            if found[identity.name] == nil { violation = "\(identity.name) changed but was not found before" }
            return []
        case .resolved(let id, let service):
            guard let name = resolving[id] else { return [] }
            found[name] = service
            return stopResolving(name, now: now)
        case .nameTaken, .types, .unresolved, .displaced, .send, .conflicted, .heard:
            return []
        }
    }

    /// Cancels the resolves of a service after the first result or its loss. A resolve that continues would query every
    /// two minutes.
    private mutating func stopResolving(_ name: String, now: Instant) -> [HostAction] {
        var actions: [HostAction] = []
        for id in resolving.keys.filter({ resolving[$0] == name }).sorted() {
            resolving[id] = nil
            actions += perform(now, .cancelResolve(id))
        }
        return actions
    }
}
