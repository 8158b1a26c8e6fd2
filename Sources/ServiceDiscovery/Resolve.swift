public import DNSWire
public import MulticastDNS
import ProtocolCore

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

/// A resolve and its last report.
struct Resolve: Sendable {
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

extension DiscoveryNode {
    mutating func resolve(_ id: ResolveID, _ identity: ServiceIdentity, now: Instant, _ actions: inout [Action]) {
        if resolves[id] != nil { cancelResolve(id, now: now, &actions) }
        // A name that does not fit into a question cannot exist, and multicast queries do not cover other domains (RFC
        // 6762 §3). Such a resolve never reports anything.
        guard let instance = try? identity.instanceName(), (try? Name(presentation: identity.domain)) == domain else {
            return
        }
        makeRoom(for: instance, now: now, &actions)
        let resolve = Resolve(identity: identity, instance: instance)
        resolves[id] = resolve
        resolvesByName[instance, default: []].insert(id)
        for question in resolve.questions { query(.ask(question, on: identity.interface), now: now, &actions) }
        report(id, now: now, &actions)
    }

    mutating func cancelResolve(_ id: ResolveID, now: Instant, _ actions: inout [Action]) {
        guard let resolve = resolves.removeValue(forKey: id) else { return }
        forget(resolve.instance, of: id)
        for question in resolve.questions {
            query(.forget(question, on: resolve.identity.interface), now: now, &actions)
        }
        if let target = resolve.target {
            forget(target, of: id)
            if favoured.contains(resolve.instance) { favourHosts(now: now, &actions) }
        }
    }

    private mutating func forget(_ name: Name, of id: ResolveID) {
        resolvesByName[name]?.remove(id)
        if resolvesByName[name]?.isEmpty == true { resolvesByName[name] = nil }
    }

    // MARK: Priority services

    mutating func prioritize(_ services: Set<ServiceIdentity>, now: Instant, _ actions: inout [Action]) {
        let names = services.compactMap { try? $0.instanceName() }
        favoured = Set(names.prefix(configuration.resolveLimit))
        favourHosts(now: now, &actions)
    }

    /// Gives the hosts of priority services priority as well, while the services are resolved.
    private mutating func favourHosts(now: Instant, _ actions: inout [Action]) {
        let hosts = favoured.flatMap { resolvesByName[$0] ?? [] }.compactMap { resolves[$0]?.target }
        query(.prioritize(favoured.union(hosts)), now: now, &actions)
    }

    /// Ends a resolve to make room for the new one. Priority services and other services are counted separately. If the
    /// resolves of the new one's kind have reached the limit, the oldest resolve of this kind ends.
    private mutating func makeRoom(for instance: Name, now: Instant, _ actions: inout [Action]) {
        let matters = favoured.contains(instance)
        guard resolves.count >= configuration.resolveLimit else { return }
        let alike = resolves.filter { favoured.contains($0.value.instance) == matters }.keys
        guard alike.count >= configuration.resolveLimit, let oldest = alike.min() else { return }
        cancelResolve(oldest, now: now, &actions)
        actions.append(.displaced(oldest))
    }

    /// Reconfirms the records that led to the service, from the PTR to the addresses (RFC 6762 §10.4).
    mutating func reconfirm(_ identity: ServiceIdentity, now: Instant, _ actions: inout [Action]) {
        guard let instance = try? identity.instanceName(), let type = try? identity.type.name(in: domain) else {
            return
        }
        for interface in querier.interfaces where identity.interface == nil || identity.interface == interface {
            var doubted = [QuestionKey(name: instance, type: .srv), QuestionKey(name: instance, type: .txt)]
            if case .srv(_, _, _, let target) = querier.records(for: doubted[0], on: interface).first?.data {
                doubted += [QuestionKey(name: target, type: .a), QuestionKey(name: target, type: .aaaa)]
            }
            for key in doubted { query(.reconfirm(key, nil, on: interface), now: now, &actions) }
            let pointer = QuestionKey(name: type, type: .ptr)
            query(.reconfirm(pointer, .ptr(instance), on: interface), now: now, &actions)
        }
    }

    mutating func noteResolved(_ changes: [CacheChange], now: Instant, _ actions: inout [Action]) {
        guard !resolves.isEmpty else { return }
        let names = Set(
            changes.map { change in
                switch change {
                case .added(let record), .removed(let record): record.name
                }
            })
        // The lookup is by name, because hundreds of services are resolved and each packet causes a lookup.
        for id in Set(names.flatMap { resolvesByName[$0] ?? [] }).sorted() {
            report(id, now: now, &actions)
        }
    }

    /// Reports a service again if its unchanged records were received again, because it may have restarted.
    mutating func noteRepeated(_ names: Set<Name>, _ actions: inout [Action]) {
        for id in Set(names.flatMap { resolvesByName[$0] ?? [] }).sorted() {
            guard let resolve = resolves[id], names.contains(resolve.instance), let service = resolve.reported else {
                continue
            }
            actions.append(.resolved(id, service))
        }
    }

    /// Compares the cached records with the last report, after following the SRV record to its current host.
    private mutating func report(_ id: ResolveID, now: Instant, _ actions: inout [Action]) {
        guard let resolve = resolves[id] else { return }
        let location = location(of: resolve)
        if resolve.target != location?.target { retarget(id, to: location?.target, now: now, &actions) }
        guard var resolve = resolves[id] else { return }
        let service = location.flatMap { resolved(resolve, $0) }
        guard service != resolve.reported else { return }
        resolve.reported = service
        resolves[id] = resolve
        actions.append(service.map { .resolved(id, $0) } ?? .unresolved(id))
    }

    private struct Location {
        let interface: InterfaceID
        let port: UInt16
        let target: Name
    }

    private func interfaces(of resolve: Resolve) -> [InterfaceID] {
        querier.interfaces.filter { resolve.identity.interface == nil || resolve.identity.interface == $0 }
    }

    private func location(of resolve: Resolve) -> Location? {
        let key = QuestionKey(name: resolve.instance, type: .srv)
        for interface in interfaces(of: resolve) {
            guard case .srv(_, _, let port, let target) = querier.records(for: key, on: interface).first?.data else {
                continue
            }
            return Location(interface: interface, port: port, target: target)
        }
        return nil
    }

    private mutating func retarget(_ id: ResolveID, to target: Name?, now: Instant, _ actions: inout [Action]) {
        guard var resolve = resolves[id] else { return }
        let old = Set(resolve.questions)
        if let before = resolve.target, before != resolve.instance { forget(before, of: id) }
        if let target { resolvesByName[target, default: []].insert(id) }
        resolve.target = target
        resolves[id] = resolve
        let new = Set(resolve.questions)
        let interface = resolve.identity.interface
        for question in new.subtracting(old).sorted(by: { $0.type < $1.type }) {
            query(.ask(question, on: interface), now: now, &actions)
        }
        for question in old.subtracting(new) { query(.forget(question, on: interface), now: now, &actions) }
        if favoured.contains(resolve.instance) { favourHosts(now: now, &actions) }
    }

    private func resolved(_ resolve: Resolve, _ location: Location) -> ResolvedService? {
        var addresses: [ResolvedService.Address] = []
        for interface in interfaces(of: resolve) {
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
            txt: text(of: resolve.instance, on: location.interface))
    }
}

extension IPAddress {
    /// True if the address can belong to a different host on each interface. For any other address one attempt
    /// suffices, on any interface.
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
