public import DNSWire
public import MulticastDNS

/// The location of a service.
public struct ResolvedService: Hashable, Sendable {
    /// An address and the interface on which it was received, which a link-local address needs.
    public struct Address: Hashable, Sendable {
        /// The address.
        public var address: IPAddress
        /// The interface on which the address was received.
        public var interface: InterfaceID

        /// Creates an address.
        public init(address: IPAddress, interface: InterfaceID) {
            self.address = address
            self.interface = interface
        }
    }

    /// The identity, with the interface of the SRV record.
    public var identity: ServiceIdentity
    /// The host name as text, with its domain.
    public var hostName: String
    /// The port of the service.
    public var port: UInt16
    /// The addresses, at least one, in the order of the interfaces; per interface, IPv4 comes before IPv6, newest
    /// first. An address from several interfaces is listed once, except link-local IPv6 addresses.
    public var addresses: [Address]
    /// The attributes; nil until they are received.
    public var txt: TXTRecord?

    /// Creates a location.
    public init(
        identity: ServiceIdentity, hostName: String, port: UInt16, addresses: [Address], txt: TXTRecord? = nil
    ) {
        self.identity = identity
        self.hostName = hostName
        self.port = port
        self.addresses = addresses
        self.txt = txt
    }
}

/// The resolves and their last reports.
struct Resolves: Sendable {
    private struct Resolve {
        let identity: ServiceIdentity
        let instance: Name
        /// The host whose addresses are queried, or nil while no SRV record is known.
        var target: Name?
        var reported: ResolvedService?

        var questions: [QuestionKey] {
            [QuestionKey(name: instance, type: .srv), QuestionKey(name: instance, type: .txt)]
                + (target.map { [QuestionKey(name: $0, type: .a), QuestionKey(name: $0, type: .aaaa)] } ?? [])
        }
    }

    private let domain: Name
    private let limit: Int
    private var resolves: [ResolveID: Resolve] = [:]
    /// The resolves by the names whose records concern them: the instance name and the host name.
    private var byName: [Name: Set<ResolveID>] = [:]
    /// The instance names of priority services.
    private var favoured: Set<Name> = []

    init(domain: Name, limit: Int) {
        self.domain = domain
        self.limit = limit
    }

    /// The resolves in the order of their ids.
    var ids: [ResolveID] { resolves.keys.sorted() }

    /// Starts a resolve. The caller then calls ``report(_:_:_:)``.
    mutating func start(_ id: ResolveID, _ identity: ServiceIdentity, _ steps: inout [DiscoveryStep]) {
        cancel(id, &steps)
        // A name that does not fit into a question cannot exist, and multicast queries do not cover other domains (RFC
        // 6762 §3). Such a resolve never reports anything.
        guard let instance = try? identity.instanceName(), (try? Name(presentation: identity.domain)) == domain else {
            return
        }
        makeRoom(for: instance, &steps)
        let resolve = Resolve(identity: identity, instance: instance)
        resolves[id] = resolve
        byName[instance, default: []].insert(id)
        steps += resolve.questions.map { .query(.ask($0, on: identity.interface)) }
    }

    mutating func cancel(_ id: ResolveID, _ steps: inout [DiscoveryStep]) {
        guard let resolve = resolves.removeValue(forKey: id) else { return }
        forget(resolve.instance, of: id)
        steps += resolve.questions.map { .query(.forget($0, on: resolve.identity.interface)) }
        if let target = resolve.target {
            forget(target, of: id)
            if favoured.contains(resolve.instance) { favourHosts(&steps) }
        }
    }

    private mutating func forget(_ name: Name, of id: ResolveID) {
        byName[name]?.remove(id)
        if byName[name]?.isEmpty == true { byName[name] = nil }
    }

    // MARK: Priority services

    mutating func prioritize(_ services: Set<ServiceIdentity>, _ steps: inout [DiscoveryStep]) {
        let names = services.compactMap { try? $0.instanceName() }
        favoured = Set(names.prefix(limit))
        favourHosts(&steps)
    }

    /// Gives the hosts of priority services priority as well, while the services are resolved.
    private func favourHosts(_ steps: inout [DiscoveryStep]) {
        let hosts = favoured.flatMap { byName[$0] ?? [] }.compactMap { resolves[$0]?.target }
        steps.append(.query(.prioritize(favoured.union(hosts))))
    }

    /// Ends a resolve to make room for the new one. Priority services and other services are counted separately. If the
    /// resolves of the new one's kind have reached the limit, the oldest resolve of this kind ends.
    private mutating func makeRoom(for instance: Name, _ steps: inout [DiscoveryStep]) {
        let matters = favoured.contains(instance)
        guard resolves.count >= limit else { return }
        let alike = resolves.filter { favoured.contains($0.value.instance) == matters }.keys
        guard alike.count >= limit, let oldest = alike.min() else { return }
        cancel(oldest, &steps)
        steps.append(.report(.displaced(oldest)))
    }

    // MARK: Reports

    mutating func note(_ changes: [CacheChange], _ querier: Querier, _ steps: inout [DiscoveryStep]) {
        guard !resolves.isEmpty else { return }
        let names = Set(
            changes.map { change in
                switch change {
                case .added(let record), .removed(let record): record.name
                }
            })
        // The lookup is by name, because hundreds of services are resolved and each packet causes a lookup.
        for id in Set(names.flatMap { byName[$0] ?? [] }).sorted() { report(id, querier, &steps) }
    }

    /// Reports a service again if its unchanged records were received again, because it may have restarted.
    func noteRepeated(_ names: Set<Name>, _ steps: inout [DiscoveryStep]) {
        for id in Set(names.flatMap { byName[$0] ?? [] }).sorted() {
            guard let resolve = resolves[id], names.contains(resolve.instance), let service = resolve.reported else {
                continue
            }
            steps.append(.report(.resolved(id, service)))
        }
    }

    /// Compares the cached records with the last report, after following the SRV record to its current host.
    mutating func report(_ id: ResolveID, _ querier: Querier, _ steps: inout [DiscoveryStep]) {
        guard var resolve = resolves[id] else { return }
        let location = Self.location(of: resolve, querier)
        if resolve.target != location?.target { retarget(id, &resolve, to: location?.target, &steps) }
        let service = location.flatMap { Self.resolved(resolve, $0, querier) }
        guard service != resolve.reported else { return }
        resolves[id]?.reported = service
        steps.append(.report(service.map { .resolved(id, $0) } ?? .unresolved(id)))
    }

    private struct Location {
        let interface: InterfaceID
        let port: UInt16
        let target: Name
    }

    private static func interfaces(of resolve: Resolve, _ querier: Querier) -> [InterfaceID] {
        querier.interfaces.filter { resolve.identity.interface == nil || resolve.identity.interface == $0 }
    }

    private static func location(of resolve: Resolve, _ querier: Querier) -> Location? {
        let key = QuestionKey(name: resolve.instance, type: .srv)
        for interface in interfaces(of: resolve, querier) {
            guard case .srv(_, _, let port, let target) = querier.records(for: key, on: interface).first?.data else {
                continue
            }
            return Location(interface: interface, port: port, target: target)
        }
        return nil
    }

    private mutating func retarget(
        _ id: ResolveID, _ resolve: inout Resolve, to target: Name?, _ steps: inout [DiscoveryStep]
    ) {
        let old = Set(resolve.questions)
        if let before = resolve.target, before != resolve.instance { forget(before, of: id) }
        if let target { byName[target, default: []].insert(id) }
        resolve.target = target
        resolves[id] = resolve
        let new = Set(resolve.questions)
        let interface = resolve.identity.interface
        for question in new.subtracting(old).sorted(by: { $0.type < $1.type }) {
            steps.append(.query(.ask(question, on: interface)))
        }
        for question in old.subtracting(new) { steps.append(.query(.forget(question, on: interface))) }
        if favoured.contains(resolve.instance) { favourHosts(&steps) }
    }

    private static func resolved(
        _ resolve: Resolve, _ location: Location, _ querier: Querier
    ) -> ResolvedService? {
        var addresses: [ResolvedService.Address] = []
        for interface in interfaces(of: resolve, querier) {
            for type in [RecordType.a, .aaaa] {
                for record in querier.records(for: QuestionKey(name: location.target, type: type), on: interface) {
                    guard let address = record.data.address,
                        address.isScoped || !addresses.contains(where: { $0.address == address })
                    else { continue }
                    addresses.append(ResolvedService.Address(address: address, interface: interface))
                }
            }
        }
        guard !addresses.isEmpty else { return nil }
        var identity = resolve.identity
        identity.interface = location.interface
        return ResolvedService(
            identity: identity, hostName: location.target.description, port: location.port, addresses: addresses,
            txt: querier.text(of: resolve.instance, on: location.interface))
    }
}

extension Querier {
    /// Returns the events that reconfirm the records that led to the service, from the PTR to the addresses (RFC 6762
    /// §10.4).
    func reconfirmations(of identity: ServiceIdentity, in domain: Name) -> [Event] {
        guard let instance = try? identity.instanceName(), let type = try? identity.type.name(in: domain) else {
            return []
        }
        return interfaces.filter { identity.interface == nil || identity.interface == $0 }.flatMap {
            interface -> [Event] in
            var doubted = [QuestionKey(name: instance, type: .srv), QuestionKey(name: instance, type: .txt)]
            if case .srv(_, _, _, let target) = records(for: doubted[0], on: interface).first?.data {
                doubted += [QuestionKey(name: target, type: .a), QuestionKey(name: target, type: .aaaa)]
            }
            return doubted.map { .reconfirm($0, nil, on: interface) }
                + [.reconfirm(QuestionKey(name: type, type: .ptr), .ptr(instance), on: interface)]
        }
    }
}

extension IPAddress {
    /// True if the address identifies a host only together with an interface. Any other address is listed only once.
    fileprivate var isScoped: Bool { family == .v6 && isLinkLocal }
}

extension RecordData {
    fileprivate var address: IPAddress? {
        switch self {
        case .a(let address): .v4(address)
        case .aaaa(let address): .v6(address)
        case .ptr, .srv, .txt, .nsec, .other: nil
        }
    }
}
