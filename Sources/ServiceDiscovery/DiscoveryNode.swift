public import DNSWire
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
        /// resolves have a separate limit. Other entries are evicted, oldest first. The set replaces the previous one;
        /// services above the resolve limit are ignored.
        case prioritize(Set<ServiceIdentity>)
        /// Publishes records on behalf of a sleeping host. The id is at least ``DiscoveryNode/firstProxyGroup``. Verified
        /// records are announced without probing.
        case publish(GroupID, RecordGroup, isVerified: Bool)
        /// Withdraws records that were published on behalf of another host, with or without a goodbye.
        case withdraw(GroupID, goodbye: Bool)
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
        /// Another host has the name of records that are published on behalf of a sleeping host.
        case conflicted(GroupID, by: Peer)
        /// A message arrived. Reported only if ``Configuration/reportsMessages`` is set.
        case heard(InboundMessage)
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
        /// True if the node reports each message that arrives, for a sleep proxy.
        public var reportsMessages: Bool
        /// False if the node keeps only records for which it asks. A plug asks only for sleep proxies, so it needs no
        /// memory for the services of its neighbours.
        public var keepsAllRecords: Bool

        /// Creates a configuration.
        public init(
            registrationLimit: Int = 2000, browseLimit: Int = 100, resolveLimit: Int = 2000, sharesPort: Bool = false,
            reportsMessages: Bool = false, keepsAllRecords: Bool = true
        ) {
            self.registrationLimit = registrationLimit
            self.browseLimit = browseLimit
            self.resolveLimit = resolveLimit
            self.sharesPort = sharesPort
            self.reportsMessages = reportsMessages
            self.keepsAllRecords = keepsAllRecords
        }
    }

    /// The first id of the groups that the node publishes on behalf of other hosts. Smaller ids are for registrations.
    public static let firstProxyGroup = GroupID(rawValue: 1 << 32)
    /// The domain of multicast DNS.
    public static let domain: Name = "local"

    private let reportsMessages: Bool
    private var responder: Responder
    private var querier: Querier
    private var registrations: Registrations
    private var browses: Browses
    private var typeBrowses: TypeBrowses
    private var resolves: Resolves
    /// The number of datagrams that were not valid DNS messages.
    public private(set) var malformedCount: UInt64 = 0

    /// Creates a node without interfaces. Random delays are drawn from `random`.
    public init(random: SeededRandom, configuration: Configuration = Configuration()) {
        var random = random
        reportsMessages = configuration.reportsMessages
        responder = Responder(random: random.split(), sharesPort: configuration.sharesPort)
        querier = Querier(random: random.split(), keepsAllRecords: configuration.keepsAllRecords)
        registrations = Registrations(
            domain: Self.domain, limit: configuration.registrationLimit, random: random)
        browses = Browses(domain: Self.domain, limit: configuration.browseLimit)
        typeBrowses = TypeBrowses(domain: Self.domain, limit: configuration.browseLimit)
        resolves = Resolves(domain: Self.domain, limit: configuration.resolveLimit)
    }

    /// The names of all registered services and their hosts.
    public var registeredNames: Set<Name> { responder.names(before: Self.firstProxyGroup) }

    /// Returns the records that the registered services announce on the interface, the addresses first.
    public func announcedRecords(on interface: InterfaceID) -> [Record] {
        responder.announced(before: Self.firstProxyGroup, on: interface)
    }

    public var nextDeadline: Instant? {
        sooner(sooner(responder.nextDeadline, querier.nextDeadline), registrations.deadline)
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        var steps: [DiscoveryStep] = []
        switch event {
        case .interfaceChanged(let network):
            steps = [.respond(.interfaceChanged(network)), .query(.interfaceChanged(network))]
        case .interfaceRemoved(let id): steps = [.respond(.interfaceRemoved(id)), .query(.interfaceRemoved(id))]
        case .received(let datagram): receive(datagram, now: now, &actions)
        case .register(let id, let registration): registrations.register(id, registration, now: now, &steps)
        case .updateTXT(let id, let txt): registrations.updateTXT(id, txt, now: now, &steps)
        case .unregister(let id): registrations.unregister(id, now: now, &steps)
        case .browse(let id, let type):
            browses.start(id, type, &steps)
            perform(&steps, now: now, &actions)
            browses.find(id, querier, &steps)
        case .browseTypes(let id):
            if typeBrowses.start(id, &steps) {
                perform(&steps, now: now, &actions)
                typeBrowses.report(querier, &steps)
            }
        case .cancelBrowse(let id):
            browses.cancel(id, &steps)
            typeBrowses.cancel(id, &steps)
        case .resolve(let id, let identity):
            resolves.start(id, identity, &steps)
            perform(&steps, now: now, &actions)
            resolves.report(id, querier, &steps)
        case .cancelResolve(let id): resolves.cancel(id, &steps)
        case .reconfirm(let identity):
            steps = querier.reconfirmations(of: identity, in: Self.domain).map { .query($0) }
        case .prioritize(let services): resolves.prioritize(services, &steps)
        case .publish(let id, let group, let isVerified):
            precondition(id >= Self.firstProxyGroup, "the id of a registration's group")
            steps = [.respond(isVerified ? .takeOver(id, group) : .publish(id, group))]
        case .withdraw(let id, let goodbye): steps = [.respond(goodbye ? .withdraw(id) : .handBack(id))]
        case .resumed: steps = [.respond(.resumed), .query(.resumed)]
        case .stop:
            registrations.removeAll()
            steps = [.respond(.stop)]
            for id in browses.ids { browses.cancel(id, &steps) }
            for id in typeBrowses.ids { typeBrowses.cancel(id, &steps) }
            for id in resolves.ids { resolves.cancel(id, &steps) }
        case .deadlineReached: steps = [.respond(.deadlineReached), .query(.deadlineReached)]
        }
        perform(&steps, now: now, &actions)
        registrations.reclaim(now: now, querier, &steps)
        perform(&steps, now: now, &actions)
        return actions
    }

    private mutating func receive(_ datagram: InboundDatagram, now: Instant, _ actions: inout [Action]) {
        do {
            let inbound = try InboundMessage(datagram)
            respond(.received(inbound), now: now, &actions)
            query(.received(inbound), now: now, &actions)
            if reportsMessages { actions.append(.heard(inbound)) }
        } catch {
            malformedCount += 1
        }
    }

    /// Performs and removes the steps in order, each with its consequences.
    private mutating func perform(_ steps: inout [DiscoveryStep], now: Instant, _ actions: inout [Action]) {
        for step in steps {
            switch step {
            case .respond(let event): respond(event, now: now, &actions)
            case .query(let event): query(event, now: now, &actions)
            case .report(let action): actions.append(action)
            }
        }
        steps.removeAll()
    }

    private mutating func respond(_ event: Responder.Event, now: Instant, _ actions: inout [Action]) {
        for action in responder.handle(event, now: now) {
            var steps: [DiscoveryStep] = []
            switch action {
            case .send(let datagram): actions.append(.send(datagram))
            case .claimed(let group): registrations.claimed(group, now: now, &steps)
            case .conflicted(let group, let host) where group >= Self.firstProxyGroup:
                actions.append(.conflicted(group, by: host))
            case .conflicted(let group, let host): registrations.rename(group, because: host, now: now, &steps)
            }
            perform(&steps, now: now, &actions)
        }
    }

    private mutating func query(_ event: Querier.Event, now: Instant, _ actions: inout [Action]) {
        for action in querier.handle(event, now: now) {
            var steps: [DiscoveryStep] = []
            switch action {
            case .send(let datagram): actions.append(.send(datagram))
            case .changed(let interface, let changes):
                browses.note(changes, on: interface, querier, &steps)
                perform(&steps, now: now, &actions)
                typeBrowses.note(changes, querier, &steps)
                resolves.note(changes, querier, &steps)
            case .repeated(let names):
                resolves.noteRepeated(names, &steps)
            }
            perform(&steps, now: now, &actions)
        }
    }
}

/// A consequence of a change: an event for the responder or the querier, or a report to the shell.
enum DiscoveryStep {
    case respond(Responder.Event)
    case query(Querier.Event)
    case report(DiscoveryNode.Action)
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
