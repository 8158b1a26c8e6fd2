import DNSWire
public import MulticastDNS
public import ProtocolCore

/// A host's whole service discovery: registers, browses and resolves in `local` by multicast DNS (RFC 6763 over RFC 6762).
public struct DiscoveryNode: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// The interface came, or its addresses changed. Leave interfaces out that have no multicast.
        case interfaceChanged(NetworkInterface)
        case interfaceRemoved(InterfaceID)
        case received(InboundDatagram)
        /// An id that is in use is replaced.
        case register(RegistrationID, ServiceRegistration)
        case updateTXT(RegistrationID, TXTRecord)
        case unregister(RegistrationID)
        case browse(BrowseID, ServiceType)
        /// Which types of services there are (RFC 6763 §9).
        case browseTypes(BrowseID)
        case cancelBrowse(BrowseID)
        case resolve(ResolveID, ServiceIdentity)
        case cancelResolve(ResolveID)
        /// The service did not answer: unless it confirms its records, they go within 10 s.
        case reconfirm(ServiceIdentity)
        /// These services matter: what leads to them has room of its own, in the caches and among the resolves, whatever others announce.
        /// Any others give way, the oldest first. It replaces what was said before; of more than the limit of resolves the rest is
        /// ignored.
        case favour(Set<ServiceIdentity>)
        /// The host slept: what is registered is claimed again, and what is asked for is asked anew.
        case resumed
        /// Goodbye for everything registered, at once; browsing and resolving end.
        case stop
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        case send(OutboundDatagram)
        /// The service is announced under this name; again when another host's claim made it change its name, and when it got its own
        /// back.
        case registered(RegistrationID, name: String)
        /// Another host has the name that the service was registered under. It is tried again after so long, and until then the service
        /// has another one, which is told as soon as it is announced.
        case nameTaken(RegistrationID, name: String, by: Peer, again: Duration)
        case browse(BrowseID, ServiceChange)
        /// All types of services that are there now, in the order of their texts; again whenever that changes.
        case types(BrowseID, [ServiceType])
        /// What is known of the service; again whenever that changes.
        case resolved(ResolveID, ResolvedService)
        /// A resolved service is there no more; the resolve goes on and reports it when it comes back.
        case unresolved(ResolveID)
        /// The resolve ended to make room for one that came later.
        case displaced(ResolveID)
    }

    public struct Configuration: Hashable, Sendable {
        /// Stops a fault in the program from filling memory and network; beyond it, events to add one are ignored.
        public var registrationLimit: Int
        public var browseLimit: Int
        /// Of favoured services as many again.
        public var resolveLimit: Int
        /// Another program of this host has the port open too, so that what comes by unicast may reach that one instead.
        public var sharesPort: Bool

        public init(
            registrationLimit: Int = 2000, browseLimit: Int = 100, resolveLimit: Int = 2000, sharesPort: Bool = false
        ) {
            self.registrationLimit = registrationLimit
            self.browseLimit = browseLimit
            self.resolveLimit = resolveLimit
            self.sharesPort = sharesPort
        }
    }

    let configuration: Configuration
    let domain: Name = "local"
    var random: SeededRandom
    var responder: Responder
    var querier: Querier
    var services: [RegistrationID: RegisteredService] = [:]
    /// By the host name that was asked for.
    var hosts: [String: RegisteredHost] = [:]
    var groupOwners: [GroupID: GroupOwner] = [:]
    var nextGroup: UInt64 = 0
    /// When the next service tries to get its name back.
    var reclaimDeadline: Instant?
    var browses: [BrowseID: Browse] = [:]
    /// What each browse for types has reported.
    var typeBrowses: [BrowseID: [ServiceType]] = [:]
    var resolves: [ResolveID: Resolve] = [:]
    /// Which of them are touched by a record of that name: of the instance or of its host.
    var resolvesByName: [Name: Set<ResolveID>] = [:]
    /// The instance names of services that matter.
    var favoured: Set<Name> = []
    /// Datagrams that were no DNS messages.
    public private(set) var malformedCount: UInt64 = 0

    public init(random: SeededRandom, configuration: Configuration = Configuration()) {
        var random = random
        self.configuration = configuration
        responder = Responder(random: random.split(), sharesPort: configuration.sharesPort)
        querier = Querier(random: random.split())
        self.random = random
    }

    public var nextDeadline: Instant? { sooner(sooner(responder.nextDeadline, querier.nextDeadline), reclaimDeadline) }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .interfaceChanged(let network):
            respond(.interfaceChanged(network), now: now, &actions)
            query(.interfaceChanged(network), now: now, &actions)
        case .interfaceRemoved(let id):
            respond(.interfaceRemoved(id), now: now, &actions)
            query(.interfaceRemoved(id), now: now, &actions)
        case .received(let datagram):
            receive(datagram, now: now, &actions)
        case .register(let id, let registration):
            register(id, registration, now: now, &actions)
        case .updateTXT(let id, let txt):
            updateTXT(id, txt, now: now, &actions)
        case .unregister(let id):
            unregister(id, now: now, &actions)
        case .browse(let id, let type):
            browse(id, type, now: now, &actions)
        case .browseTypes(let id):
            browseTypes(id, now: now, &actions)
        case .cancelBrowse(let id):
            cancelBrowse(id, now: now, &actions)
            cancelTypeBrowse(id, now: now, &actions)
        case .resolve(let id, let identity):
            resolve(id, identity, now: now, &actions)
        case .cancelResolve(let id):
            cancelResolve(id, now: now, &actions)
        case .reconfirm(let identity):
            reconfirm(identity, now: now, &actions)
        case .favour(let services):
            favour(services, now: now, &actions)
        case .resumed:
            respond(.resumed, now: now, &actions)
            query(.resumed, now: now, &actions)
        case .stop:
            stop(now: now, &actions)
        case .deadlineReached:
            respond(.deadlineReached, now: now, &actions)
            query(.deadlineReached, now: now, &actions)
        }
        reclaim(now: now, &actions)
        return actions
    }

    private mutating func receive(_ datagram: InboundDatagram, now: Instant, _ actions: inout [Action]) {
        do {
            let inbound = try InboundMessage(datagram)
            respond(.received(inbound), now: now, &actions)
            query(.received(inbound), now: now, &actions)
        } catch {
            malformedCount += 1
        }
    }

    mutating func respond(_ event: Responder.Event, now: Instant, _ actions: inout [Action]) {
        for action in responder.handle(event, now: now) {
            switch action {
            case .send(let datagram): actions.append(.send(datagram))
            case .claimed(let group): reportClaimed(group, now: now, &actions)
            case .conflicted(let group, let host): rename(group, because: host, now: now, &actions)
            }
        }
    }

    mutating func query(_ event: Querier.Event, now: Instant, _ actions: inout [Action]) {
        for action in querier.handle(event, now: now) {
            switch action {
            case .send(let datagram): actions.append(.send(datagram))
            case .changed(let interface, let changes):
                noteBrowsed(changes, on: interface, now: now, &actions)
                noteTypes(changes, &actions)
                noteResolved(changes, now: now, &actions)
            case .repeated(let names):
                noteRepeated(names, &actions)
            }
        }
    }

    private mutating func stop(now: Instant, _ actions: inout [Action]) {
        respond(.stop, now: now, &actions)
        services = [:]
        reclaimDeadline = nil
        hosts = [:]
        groupOwners = [:]
        for id in browses.keys.sorted() { cancelBrowse(id, now: now, &actions) }
        for id in typeBrowses.keys.sorted() { cancelTypeBrowse(id, now: now, &actions) }
        for id in resolves.keys.sorted() { cancelResolve(id, now: now, &actions) }
    }
}

/// Names a registration between the node and its shell.
public struct RegistrationID: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a browse between the node and its shell.
public struct BrowseID: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Names a resolve between the node and its shell.
public struct ResolveID: RawRepresentable, Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
