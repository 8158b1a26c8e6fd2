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
        /// Reports that the record with this name, type and data did not work, or all records of the name and type if
        /// the data is nil (RFC 6762 §10.4). They expire within 10 s unless a response confirms them.
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

    private var random: SeededRandom
    private var links: [InterfaceID: QuerierLink] = [:]
    private var asks = Asks()
    private var favoured: Set<Name> = []
    private let keepsAllRecords: Bool

    /// Creates a querier.
    ///
    /// - Parameters:
    ///   - random: the source of delays.
    ///   - keepsAllRecords: true if the cache also keeps records for which no question is active, while any question
    ///     is. A later question for them then needs no packet.
    public init(random: SeededRandom, keepsAllRecords: Bool = true) {
        self.random = random
        self.keepsAllRecords = keepsAllRecords
    }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .interfaceChanged(let network): attach(network, now: now, &actions)
        case .interfaceRemoved(let id): detach(id, &actions)
        case .received(let inbound): receive(inbound, now: now, &actions)
        case .resumed: for interface in interfaces { restart(on: interface, now: now) }
        case .ask(let key, let interface): ask(key, on: interface, now: now)
        case .forget(let key, let interface): forget(key, on: interface)
        case .reconfirm(let key, let data, let interface): links[interface]?.reconfirm(key, data, now: now)
        case .prioritize(let names): prioritize(names)
        case .deadlineReached: break
        }
        for interface in links.keys.sorted() { advance(interface, now: now, &actions) }
        return actions
    }

    public var nextDeadline: Instant? {
        links.values.reduce(nil) { sooner($0, $1.deadline) }
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
            links[network.id] = QuerierLink(network: network, keepsAllRecords: keepsAllRecords)
            for name in favoured { links[network.id]?.prioritize(name, true) }
        } else {
            links[network.id]?.change(to: network)
        }
        // If the interface has a new address family, all questions restart with the shortest interval.
        guard old.map({ !network.families.isSubset(of: $0.families) }) ?? true else { return }
        restart(on: network.id, now: now)
    }

    private mutating func prioritize(_ names: Set<Name>) {
        let changed = favoured.symmetricDifference(names)
        favoured = names
        for interface in interfaces {
            for name in changed { links[interface]?.prioritize(name, names.contains(name)) }
        }
    }

    private mutating func restart(on interface: InterfaceID, now: Instant) {
        for key in asks.keys(on: interface) { links[interface]?.start(key, now: now, &random) }
    }

    private mutating func detach(_ interface: InterfaceID, _ actions: inout [Action]) {
        guard let link = links.removeValue(forKey: interface) else { return }
        let removed = link.cache.all.map { CacheChange.removed($0) }
        if !removed.isEmpty { actions.append(.changed(interface, removed)) }
    }

    private mutating func ask(_ key: QuestionKey, on interface: InterfaceID?, now: Instant) {
        guard asks.add(key, on: interface) else { return }
        for id in interfaces where interface == nil || interface == id {
            // Never copy the link here: each call would copy hundreds of questions.
            if links[id]?.isAsking(key) == false { links[id]?.start(key, now: now, &random) }
        }
    }

    private mutating func forget(_ key: QuestionKey, on interface: InterfaceID?) {
        guard asks.remove(key, on: interface) else { return }
        for id in interfaces where interface == nil || interface == id {
            if !asks.contains(key, on: id) { links[id]?.end(key) }
        }
    }

    private mutating func receive(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let flags = inbound.message.flags
        guard flags.operation == 0, flags.responseCode == 0 else { return }
        guard flags.contains(.response) else {
            links[inbound.interface]?.hear(inbound, now: now)
            return
        }
        guard let (changes, repeated) = links[inbound.interface]?.store(inbound, now: now, &random) else { return }
        if !changes.isEmpty { actions.append(.changed(inbound.interface, changes)) }
        if !repeated.isEmpty { actions.append(.repeated(repeated)) }
    }

    private mutating func advance(_ interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        let asks = asks
        guard
            let (removed, questions) = links[interface]?.advance(
                now: now, order: { asks.order(of: $0, on: interface) }, &random)
        else { return }
        if !removed.isEmpty { actions.append(.changed(interface, removed.map { .removed($0) })) }
        if !questions.isEmpty { sendQuery(questions, on: interface, now: now, &actions) }
    }

    /// Sends the questions as "QM", which requests multicast answers: the kernel might deliver a unicast answer to
    /// another responder's socket on this host.
    private func sendQuery(
        _ due: [DueQuestion], on interface: InterfaceID, now: Instant, _ actions: inout [Action]
    ) {
        guard let link = links[interface] else { return }
        var packed: (keys: [QuestionKey], packets: [[UInt8]]) = ([], [])
        for family in link.network.orderedFamilies {
            let keys = due.filter { !link.wasAsked($0, family, now: now) }.map(\.key)
            // Both families usually have the same questions.
            if keys != packed.keys { packed = (keys, QueryPacker.packets(asking: keys, knowing: link.cache, now: now)) }
            for bytes in packed.packets {
                actions.append(
                    .send(OutboundDatagram(bytes: bytes, interface: interface, destination: .multicast(family))))
            }
        }
    }
}
