public import DNSWire
public import ProtocolCore

/// The name and type of a question of class IN, which is also the key of the cache.
public struct QuestionKey: Hashable, Sendable {
    /// The name in the question.
    public var name: Name
    /// The record type in the question.
    public var type: RecordType

    /// Creates a key.
    public init(name: Name, type: RecordType) {
        self.name = name
        self.type = type
    }
}

/// The querying half of multicast DNS (RFC 6762 §5, §7.1, §10). Asks questions continuously while a caller wants the
/// answers, and keeps a record cache per interface.
public struct Querier: Machine, Sendable {
    /// An event of the network, or a request of the owner.
    public enum Event: MachineEvent, Sendable {
        /// An interface was added, or its addresses changed.
        case interfaceChanged(NetworkInterface)
        case interfaceRemoved(InterfaceID)
        case received(InboundMessage)
        /// The host resumed after a suspend. It missed responses during that time, so every question restarts.
        case resumed
        /// Requests answers continuously, on one interface or on all (nil). Requests are counted: each `ask` needs one
        /// `forget`.
        case ask(QuestionKey, on: InterfaceID?)
        /// Ends one request of `ask` with the same key and interface.
        case forget(QuestionKey, on: InterfaceID?)
        /// Reports that these records, or only the one with this data if it is not nil, did not work (RFC 6762 §10.4).
        /// They expire within 10 s unless a response confirms them.
        case reconfirm(QuestionKey, RecordData?, on: InterfaceID)
        /// Reserves room in the caches for these service names, independent of other hosts' announcements: for their
        /// records and for the pointers to them. The owner limits the size of the set, which replaces the previous set.
        case prioritize(Set<Name>)
        case deadlineReached
    }

    /// An action for the shell, or a report to the owner.
    public enum Action: Hashable, Sendable {
        case send(OutboundDatagram)
        /// The changes in the cache of one interface, caused by one packet or by the passing of time.
        case changed(InterfaceID, [CacheChange])
        /// A packet repeated known SRV records of these names, for which a question is active. The host of these
        /// services may have restarted.
        case repeated(Set<Name>)
    }

    struct Ask: Hashable {
        let key: QuestionKey
        let interface: InterfaceID?
    }

    var random: SeededRandom
    var links: [InterfaceID: QuerierLink] = [:]
    /// For each question the number of its requests and its position in the order of first requests, which makes runs
    /// repeatable. The owner limits the number of its requests, and thereby the size of this table.
    var asks: [Ask: (count: Int, order: UInt64)] = [:]
    private var askOrder: UInt64 = 0
    private var favoured: Set<Name> = []

    /// Creates a querier. Random delays are drawn from `random`.
    public init(random: SeededRandom) { self.random = random }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .interfaceChanged(let network): attach(network, now: now, &actions)
        case .interfaceRemoved(let id): detach(id, &actions)
        case .received(let inbound): receive(inbound, now: now, &actions)
        case .resumed: for interface in interfaces { restart(on: interface, now: now) }
        case .ask(let key, let interface): ask(Ask(key: key, interface: interface), now: now)
        case .forget(let key, let interface): forget(Ask(key: key, interface: interface))
        case .reconfirm(let key, let data, let interface): links[interface]?.cache.reconfirm(key, data, now: now)
        case .prioritize(let names): prioritize(names)
        case .deadlineReached: break
        }
        for interface in links.keys.sorted() { advance(interface, now: now, &actions) }
        return actions
    }

    public var nextDeadline: Instant? {
        links.values.reduce(nil) { sooner(sooner($0, $1.scheduleDeadline), $1.cache.deadline) }
    }

    /// Returns the cached records, newest first. Replaced records are returned only if no current record is cached.
    public func records(for key: QuestionKey, on interface: InterfaceID) -> [Record] {
        links[interface]?.cache.current(key) ?? []
    }

    /// The interfaces in the order of their ids.
    public var interfaces: [InterfaceID] { links.keys.sorted() }

    private mutating func attach(_ network: NetworkInterface, now: Instant, _ actions: inout [Action]) {
        guard !network.families.isEmpty else { return detach(network.id, &actions) }
        let old = links[network.id]?.network
        if old == nil {
            links[network.id] = QuerierLink(network: network)
            for name in favoured { links[network.id]?.cache.prioritize(name, true) }
        }
        links[network.id]?.network = network
        // If the interface has a new address family, all questions restart with the shortest interval.
        guard old.map({ !network.families.isSubset(of: $0.families) }) ?? true else { return }
        restart(on: network.id, now: now)
    }

    private mutating func prioritize(_ names: Set<Name>) {
        let changed = favoured.symmetricDifference(names)
        favoured = names
        for interface in interfaces {
            for name in changed { links[interface]?.cache.prioritize(name, names.contains(name)) }
        }
    }

    private mutating func restart(on interface: InterfaceID, now: Instant) {
        for ask in asks.sorted(by: { $0.value.order < $1.value.order }).map(\.key)
        where ask.interface == nil || ask.interface == interface {
            start(ask.key, on: interface, now: now)
        }
    }

    private mutating func detach(_ interface: InterfaceID, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: interface) else { return }
        let removed = link.cache.all.map { CacheChange.removed($0) }
        if !removed.isEmpty { actions.append(.changed(interface, removed)) }
    }

    private mutating func ask(_ ask: Ask, now: Instant) {
        if let known = asks[ask] {
            asks[ask] = (known.count + 1, known.order)
            return
        }
        askOrder += 1
        asks[ask] = (1, askOrder)
        for interface in interfaces where ask.interface == nil || ask.interface == interface {
            if links[interface]?.schedules[ask.key] == nil { start(ask.key, on: interface, now: now) }
        }
    }

    private mutating func forget(_ ask: Ask) {
        guard let known = asks[ask] else { return }
        guard known.count == 1 else {
            asks[ask] = (known.count - 1, known.order)
            return
        }
        asks[ask] = nil
        for interface in interfaces where ask.interface == nil || ask.interface == interface {
            let others = [Ask(key: ask.key, interface: nil), Ask(key: ask.key, interface: interface)]
            guard others.allSatisfy({ asks[$0] == nil }) else { continue }
            links[interface]?.schedules[ask.key] = nil
            links[interface]?.heard[ask.key] = nil
        }
    }
}
