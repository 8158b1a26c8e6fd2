public import DNSWire
public import MulticastDNS
import ProtocolCore

/// Where a service is.
public struct ResolvedService: Hashable, Sendable {
    /// An address and the interface it was heard on, which a link-local one needs.
    public struct Address: Hashable, Sendable {
        public var address: IPAddress
        public var interface: InterfaceID

        public init(address: IPAddress, interface: InterfaceID) {
            self.address = address
            self.interface = interface
        }
    }

    /// With the interface of the SRV record.
    public var identity: ServiceIdentity
    /// As text, with its domain.
    public var hostName: String
    public var port: UInt16
    /// At least one; of each family the newest first. An address heard on several interfaces is here once, unless it is
    /// link-local in IPv6.
    public var addresses: [Address]
    /// Nil when it has not been heard yet.
    public var txt: TXTRecord?

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

/// A resolve and what it has reported.
struct Resolve: Sendable {
    let identity: ServiceIdentity
    let instance: Name
    /// The host whose addresses are asked for.
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
        // A name that cannot be asked for does not exist, and other domains are not asked for by multicast (RFC 6762 §3):
        // nothing will ever be reported for them.
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

    // MARK: Services that matter

    mutating func favour(_ services: Set<ServiceIdentity>, now: Instant, _ actions: inout [Action]) {
        let names = services.compactMap { try? $0.instanceName() }
        favoured = Set(names.prefix(configuration.resolveLimit))
        favourHosts(now: now, &actions)
    }

    /// The hosts that such services name matter with them, while they are resolved.
    private mutating func favourHosts(now: Instant, _ actions: inout [Action]) {
        let hosts = favoured.flatMap { resolvesByName[$0] ?? [] }.compactMap { resolves[$0]?.target }
        query(.favour(favoured.union(hosts)), now: now, &actions)
    }

    /// The oldest of the same kind goes where there are too many: a resolve of a favoured service never for another's.
    private mutating func makeRoom(for instance: Name, now: Instant, _ actions: inout [Action]) {
        let matters = favoured.contains(instance)
        guard resolves.count >= configuration.resolveLimit else { return }
        let alike = resolves.filter { favoured.contains($0.value.instance) == matters }.keys
        guard alike.count >= configuration.resolveLimit, let oldest = alike.min() else { return }
        cancelResolve(oldest, now: now, &actions)
        actions.append(.displaced(oldest))
    }

    /// RFC 6762 §10.4: the records that led to the service, from the PTR to the addresses.
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
        // By name: hundreds are resolved, and each packet is looked at.
        for id in Set(names.flatMap { resolvesByName[$0] ?? [] }).sorted() {
            report(id, now: now, &actions)
        }
    }

    /// A service that is heard again where it was may have been away meanwhile: it is told again.
    mutating func noteRepeated(_ names: Set<Name>, _ actions: inout [Action]) {
        for id in Set(names.flatMap { resolvesByName[$0] ?? [] }).sorted() {
            guard let resolve = resolves[id], names.contains(resolve.instance), let service = resolve.reported else {
                continue
            }
            actions.append(.resolved(id, service))
        }
    }

    /// Compares what is cached with what was reported, after following the SRV record to the host it names now.
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
    /// Only such an address means another host on another interface; the others are worth one try, wherever heard.
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
