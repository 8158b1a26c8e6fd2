import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import SleepProxy

/// A switched link with two proxies, hosts that sleep, a host that never sleeps, a client and an attacker. Frames are
/// lost, duplicated and reordered. The invariants are checked after each delivery.
struct SimulatedLink {
    /// The receivers of frames.
    enum Station: Hashable { case proxy(Int), host(Int), printer, client, attacker }

    enum Item {
        case frame([UInt8], to: Station)
        case datagram([UInt8], to: Int, from: Peer)
        case answer([UInt8], to: Int)
        case message(SleepProxy.Event, to: Int)
        case hostStep(Int)
        /// The timer of a host that fell asleep with this sequence number.
        case hostAlarm(Int, UInt8)
        case clientStep
        case attack
        case announcePrinter
    }

    static let printerCard = MACAddress(2, 0, 0, 0, 9, 1)
    static let printerAddress = IPv4Address(192, 168, 1, 200)
    static let printer = TestSleeper(
        card: printerCard, address: printerAddress, addressV6: nil, name: "printer")
    static let attackerCard = MACAddress(2, 0, 0, 0, 9, 9)
    static let attackerAddress = IPv4Address(192, 168, 1, 66)
    static let settling = SleepProxyLimits().settling

    let seed: UInt64
    var random: SeededRandom
    var now = Instant.zero + .seconds(1)
    var proxies: [SimulatedProxy] = []
    var hosts: [SimulatedHost]
    var client = SimulatedClient()
    /// False during the last part of a run, in which the switch loses no frame and the attacker does nothing.
    var isDisturbed = true
    var trace: [String] = []
    private var queue: [(time: Instant, order: UInt64, item: Item)] = []
    private var order: UInt64 = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        hosts = (0..<3).map { SimulatedHost(number: UInt8($0)) }
        proxies = [
            SimulatedProxy(number: 0, type: 50, random: random.split()),
            SimulatedProxy(number: 1, type: random.chance(0.5) ? 30 : 70, random: random.split()),
        ]
        perform(proxies[0].start(now: now), of: 0)
        for index in hosts.indices { schedule(.hostStep(index), after: .seconds(1 + index)) }
        schedule(.clientStep, after: .seconds(2))
        schedule(.attack, after: .seconds(3))
        schedule(.announcePrinter, after: .milliseconds(10))
    }

    mutating func schedule(_ item: Item, after delay: Duration) {
        order += 1
        let time = now + delay
        let place = queue.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        queue.insert((time, order, item), at: place)
    }

    /// Runs until a time.
    mutating func run(until end: Instant) throws(SimulationFailure) {
        while true {
            let deadline = proxies.indices.compactMap { proxies[$0].machine?.nextDeadline }.min()
            guard let next = sooner(queue.first?.time, deadline), next <= end else { break }
            now = max(now, next)
            if let first = queue.first, first.time <= now {
                queue.removeFirst()
                try deliver(first.item)
            } else {
                for index in proxies.indices { try handle(.deadlineReached, at: index) }
            }
        }
        now = end
    }

    private mutating func deliver(_ item: Item) throws(SimulationFailure) {
        switch item {
        case .frame(let bytes, let station): try receive(bytes, at: station)
        case .datagram(let bytes, let index, let peer): try handle(.registration(bytes, from: peer), at: index)
        case .answer(let bytes, let index):
            if let answer = try? SleepRegistrationAnswer(decoding: bytes) {
                if hosts[index].receive(answer) {
                    note("host \(index) sleeps")
                    let sleeper = hosts[index].sleeper
                    // As Apple's computers do, the host wakes up to register again when its lease ends.
                    schedule(.hostAlarm(index, sleeper.sequence), after: .seconds(Int64(sleeper.lease) + 10))
                }
            }
        case .message(let event, let index): try handle(event, at: index)
        case .hostStep(let index): stepHost(index)
        case .hostAlarm(let index, let sequence):
            if hosts[index].isAsleep, hosts[index].sleeper.sequence == sequence {
                hosts[index].startWaking()
                schedule(.hostStep(index), after: .seconds(1))
            }
        case .clientStep: stepClient()
        case .attack: attack()
        case .announcePrinter:
            multicast(Self.printer.announcement(), from: nil)
            schedule(.announcePrinter, after: .seconds(20))
        }
    }

    private mutating func receive(_ bytes: [UInt8], at station: Station) throws(SimulationFailure) {
        switch station {
        case .proxy(let index):
            if proxies[index].accepts(bytes) { try handle(.frame(bytes), at: index) }
        case .host(let index):
            if hosts[index].isAsleep {
                guard hosts[index].isMagic(bytes) else { return }
                note("host \(index) receives a magic packet")
                hosts[index].startWaking()
                schedule(.hostStep(index), after: random.duration(in: .milliseconds(500) ... .seconds(3)))
            } else if hosts[index].isAwake {
                for answer in hosts[index].sleeper.machine.answers(to: bytes) { send(answer) }
                if client.isConnection(bytes, to: hosts[index]) { client.accepted[index] = now }
            }
        case .printer: for answer in Self.printer.machine.answers(to: bytes) { send(answer) }
        case .attacker:
            var liar = VirtualLink.Host(card: Self.attackerCard, addresses: [.v4(Self.attackerAddress)])
            if random.chance(0.3) { liar.addresses.append(.v4(Self.printerAddress)) }
            for answer in liar.answers(to: bytes) { send(answer) }
        case .client: client.learn(bytes)
        }
    }

    /// Passes an event to a proxy, performs its actions and checks the invariants.
    mutating func handle(_ event: SleepProxy.Event, at index: Int) throws(SimulationFailure) {
        guard let actions = proxies[index].machine?.handle(event, now: now) else { return }
        perform(actions, of: index)
        try check(actions, of: index)
    }

    mutating func perform(_ actions: [SleepProxy.Action], of index: Int) {
        for action in actions {
            switch action {
            case .send(let bytes): send(bytes)
            case .answer(let bytes, let peer):
                guard let host = hosts.firstIndex(where: { .v4($0.sleeper.address) == peer.address }) else { continue }
                if !random.chance(0.05) { schedule(.answer(bytes, to: host), after: delay()) }
            case .publish(let id, let group, let isVerified):
                proxies[index].published[id] = group
                // The printer is awake, so its responder contradicts a probe for its names.
                if group.name.isPrinter, !isVerified {
                    schedule(.message(.conflicted(id), to: index), after: .milliseconds(250))
                }
                announce(group, of: index)
            case .withdraw(let id, _): proxies[index].published[id] = nil
            case .capture(let filter): proxies[index].filter = filter
            case .save(let stored): proxies[index].stored = stored
            case .note(let text): note("proxy \(index): \(text)")
            }
        }
    }

    /// Delivers the unique records of the group, with the Owner option, to the other proxy.
    private mutating func announce(_ group: RecordGroup, of index: Int) {
        var message = Message(flags: [.response, .authoritative], answers: group.unique)
        message.additionals = group.option.map { [$0] } ?? []
        let datagram = InboundDatagram(
            bytes: (try? message.encoded()) ?? [], interface: VirtualLink.link.interface,
            source: .v4(proxies[index].address), sourcePort: RFC6762.port, wasMulticast: true)
        guard let inbound = try? InboundMessage(datagram) else { return }
        multicast(.heard(inbound), from: index)
    }

    mutating func multicast(_ event: SleepProxy.Event, from sender: Int?) {
        for index in proxies.indices where index != sender && !random.chance(0.05) {
            schedule(.message(event, to: index), after: delay())
        }
    }

    private mutating func delay() -> Duration { random.duration(in: .microseconds(200) ... .milliseconds(15)) }

    /// Sends a frame through the switch, with losses, duplicates and changes of order. The printer's frames are neither
    /// lost nor late: a host that claims another's address by ARP gets it, if the other one does not contradict in time.
    mutating func send(_ bytes: [UInt8]) {
        guard bytes.count >= 14, let destination = MACAddress(bytes: bytes[0..<6]),
            let source = MACAddress(bytes: bytes[6..<12])
        else { return }
        for (station, card) in stations where card != source && (destination.isGroup || destination == card) {
            if station == .printer || source == Self.printerCard {
                schedule(.frame(bytes, to: station), after: .milliseconds(1))
                continue
            }
            if isDisturbed, random.chance(0.05) { continue }
            for _ in 0..<(random.chance(0.03) ? 2 : 1) { schedule(.frame(bytes, to: station), after: delay()) }
        }
    }

    private var stations: [(Station, MACAddress)] {
        proxies.indices.map { (.proxy($0), proxies[$0].card) }
            + hosts.indices.map { (.host($0), hosts[$0].sleeper.card) }
            + [(.printer, Self.printerCard), (.client, VirtualLink.client), (.attacker, Self.attackerCard)]
    }

    mutating func note(_ text: String) {
        trace.append("\((now - .zero).inSeconds): \(text)")
        if trace.count > 60 { trace.removeFirst() }
    }

    func require(_ holds: Bool, _ reason: @autoclosure () -> String) throws(SimulationFailure) {
        guard holds else {
            throw SimulationFailure(seed: seed, reason: "\((now - .zero).inSeconds): \(reason())", trace: trace)
        }
    }

    /// The invariants of a proxy's actions.
    private func check(_ actions: [SleepProxy.Action], of index: Int) throws(SimulationFailure) {
        for case .publish(_, let group, true) in actions {
            try require(!group.name.isPrinter, "proxy \(index) publishes a name of the printer without probing")
        }
        for bytes in actions.frames {
            guard let claim = proxies[index].claim(in: bytes) else { continue }
            try require(claim != Self.printerAddress, "proxy \(index) claims the printer's address")
            for host in hosts where host.sleeper.address == claim {
                guard let awake = host.awakeSince else { continue }
                try require(now - awake <= Self.settling, "proxy \(index) claims \(claim), whose host is awake")
            }
        }
        let report = proxies[index].machine?.report.sleepers ?? []
        try require(report.count <= hosts.count + 1, "\(report.count) sleepers")
        let addresses = report.flatMap(\.addresses)
        try require(addresses.count == Set(addresses).count, "two sleepers have one address")
        let names = proxies[index].published.values.map(\.name)
        try require(names.count == Set(names).count, "two groups have one name: \(names)")
        try require(!report.isEmpty || names.isEmpty, "groups without a sleeper: \(names)")
    }
}

extension Name {
    var isPrinter: Bool { SimulatedLink.printer.records.contains { $0.isCacheFlush && $0.name == self } }
}
