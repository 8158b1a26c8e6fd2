import DNSWire
public import MulticastDNS
public import ProtocolCore

/// The complete service discovery of a host. Registers, browses and resolves in `local` by multicast DNS (RFC 6763 over
/// RFC 6762).
public struct DiscoveryNode: Machine, Sendable {
    /// The events that the shell reports, and its requests.
    public enum Event: MachineEvent, Sendable {
        /// An interface was added, or its addresses changed. The caller does not report interfaces without multicast.
        case interfaceChanged(NetworkInterface)
        case interfaceRemoved(InterfaceID)
        case received(InboundDatagram)
        /// Registers a service. An existing registration with this id is replaced.
        case register(RegistrationID, ServiceRegistration)
        case updateTXT(RegistrationID, TXTRecord)
        case unregister(RegistrationID)
        case browse(BrowseID, ServiceType)
        /// Enumerates the service types on the network (RFC 6763 §9).
        case browseTypes(BrowseID)
        case cancelBrowse(BrowseID)
        case resolve(ResolveID, ServiceIdentity)
        case cancelResolve(ResolveID)
        /// Reports that the service did not answer. Its records expire within 10 s unless the service confirms them.
        case reconfirm(ServiceIdentity)
        /// Sets the priority services: the records that lead to them have reserved room in the caches, and their
        /// resolves have reserved places. Other entries are evicted, oldest first. The set replaces the previous one;
        /// services above the resolve limit are ignored.
        case prioritize(Set<ServiceIdentity>)
        /// The host resumed after a suspend. All registrations are claimed again, and all questions are asked again.
        case resumed
        /// Sends a goodbye for every registration immediately, and ends browses and resolves.
        case stop
        case deadlineReached
    }

    /// The actions that the shell performs.
    public enum Action: Hashable, Sendable {
        case send(OutboundDatagram)
        /// The service is announced under this name. Reported again when another host's claim forced a new name, and
        /// when the service regained its registered name.
        case registered(RegistrationID, name: String)
        /// Another host has the service's registered name. The node tries it again after this time. Until then the
        /// service has a different name, which `registered` reports when it is announced.
        case nameTaken(RegistrationID, name: String, by: Peer, again: Duration)
        case browse(BrowseID, ServiceChange)
        /// All current service types, sorted by their text. Reported again after each change.
        case types(BrowseID, [ServiceType])
        /// The known data of the service. Reported again after each change, and when the service announces its
        /// unchanged records again, because it may have restarted.
        case resolved(ResolveID, ResolvedService)
        /// A resolved service disappeared. The resolve continues and reports the service when it returns.
        case unresolved(ResolveID)
        /// The resolve ended to make room for a later one.
        case displaced(ResolveID)
    }

    /// The limits of the node, and the sharing of its port with another program.
    public struct Configuration: Hashable, Sendable {
        /// The limit of registrations. It prevents a programming error from filling memory and network. Further
        /// registrations are ignored.
        public var registrationLimit: Int
        /// The limit of browses. Browses for service types have a second limit of the same size. Further browses are
        /// ignored.
        public var browseLimit: Int
        /// The limit of resolves. Priority services have a second limit of the same size. A further resolve displaces
        /// the oldest one of its kind.
        public var resolveLimit: Int
        /// True if another program of this host has also opened the port, so that the kernel may deliver unicast
        /// packets to that program.
        public var sharesPort: Bool

        /// Creates a configuration.
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
    /// The hosts by their registered name.
    var hosts: [String: RegisteredHost] = [:]
    var groupOwners: [GroupID: GroupOwner] = [:]
    var nextGroup: UInt64 = 0
    /// The time at which the next service tries to regain its name, or nil if no service waits to do so.
    var reclaimDeadline: Instant?
    var browses: [BrowseID: Browse] = [:]
    /// The reported types per type browse.
    var typeBrowses: [BrowseID: [ServiceType]] = [:]
    var resolves: [ResolveID: Resolve] = [:]
    /// The resolves by the names whose records concern them: the instance name and the host name.
    var resolvesByName: [Name: Set<ResolveID>] = [:]
    /// The instance names of priority services.
    var favoured: Set<Name> = []
    /// The number of datagrams that were not valid DNS messages.
    public private(set) var malformedCount: UInt64 = 0

    /// Creates a node without interfaces. Random delays are drawn from `random`.
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
        case .prioritize(let services):
            prioritize(services, now: now, &actions)
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

/// Identifies a registration between the node and its shell.
public struct RegistrationID: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number, unique within a node.
    public let rawValue: UInt64
    /// Creates an identifier from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies a browse between the node and its shell.
public struct BrowseID: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number, unique within a node.
    public let rawValue: UInt64
    /// Creates an identifier from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Identifies a resolve between the node and its shell.
public struct ResolveID: RawRepresentable, Hashable, Sendable, Comparable {
    /// The number, unique within a node.
    public let rawValue: UInt64
    /// Creates an identifier from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
