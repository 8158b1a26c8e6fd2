import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import SleepProxy

/// A proxy of the simulated link.
struct SimulatedProxy {
    let card: MACAddress
    let address: IPv4Address
    let name: SleepProxyName
    var machine: SleepProxy?
    var filter = CaptureFilter()
    var stored: StoredSleepers?
    var published: [GroupID: RecordGroup] = [:]
    private var random: SeededRandom

    init(number: UInt8, type: UInt8, random: SeededRandom) {
        card = MACAddress(2, 0, 0, 0, 0, 1 + number)
        address = IPv4Address(192, 168, 1, 2 + number)
        let metrics = SleepProxyName.Metrics(type: type, portability: 50, marginalPower: 50, totalPower: 50)
        name = SleepProxyName(metrics: metrics, name: "Proxy \(number)")
        self.random = random
    }

    /// Starts the machine, or starts it again from the stored sleepers.
    mutating func start(now: Instant) -> [SleepProxy.Action] {
        var link = VirtualLink.link
        link.hardware = card
        link.addresses = [InterfaceAddress(.v4(address), prefixLength: 24)]
        var machine = SleepProxy(random: random.split(), metrics: name.metrics, stored: stored)
        let actions = machine.handle(.linkChanged(link), now: now)
        self.machine = machine
        return actions
    }

    mutating func kill() {
        machine = nil
        filter = CaptureFilter()
        published = [:]
    }

    func accepts(_ bytes: [UInt8]) -> Bool {
        // The filter of the tests expects the card of the first proxy.
        var bytes = bytes
        if Array(bytes[0..<6]) == card.bytes { bytes.replaceSubrange(0..<6, with: VirtualLink.plug.bytes) }
        return filter.accepts(bytes)
    }

    /// Returns the address that an ARP packet of this proxy claims for its own card.
    func claim(in bytes: [UInt8]) -> IPv4Address? {
        guard let frame = try? EthernetFrame(decoding: bytes), frame.type == EthernetFrame.arp,
            let packet = try? ARPPacket(decoding: frame.payload), packet.senderHardware == card,
            packet.senderAddress != address
        else { return nil }
        return packet.senderAddress
    }
}

/// A host that registers, sleeps, and is woken by magic packets.
struct SimulatedHost {
    enum State: Hashable {
        case awake(since: Instant, attempts: Int)
        case asleep
        case waking
    }

    var sleeper: TestSleeper
    var state = State.awake(since: .zero, attempts: 0)

    init(number: UInt8) {
        sleeper = .numbered(10 + number)
        sleeper.addressV6 = nil
        // A host whose registration was replaced by a forged one is found again after its lease, so the leases are short.
        sleeper.lease = 100
    }

    var isAwake: Bool { awakeSince != nil }
    var isAsleep: Bool { state == .asleep }
    var awakeSince: Instant? { if case .awake(let since, _) = state { since } else { nil } }

    mutating func startWaking() { state = .waking }

    /// Falls asleep after the proxy's answer. Returns true if it does.
    mutating func receive(_ answer: SleepRegistrationAnswer) -> Bool {
        guard isAwake, answer.isSuccess, answer.id == sleeper.id else { return false }
        state = .asleep
        return true
    }

    func isMagic(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 14 + 102 && Array(bytes[14..<116]) == MagicPacket(card: sleeper.card).payload
    }
}

/// A client that connects to hosts.
struct SimulatedClient {
    var cache: [IPv4Address: MACAddress] = [:]
    var accepted: [Int: Instant] = [:]

    /// Learns from ARP packets as a kernel does.
    mutating func learn(_ bytes: [UInt8]) {
        guard let frame = try? EthernetFrame(decoding: bytes), frame.type == EthernetFrame.arp,
            let packet = try? ARPPacket(decoding: frame.payload), packet.senderAddress != .any
        else { return }
        cache[packet.senderAddress] = packet.senderHardware
    }

    func isConnection(_ bytes: [UInt8], to host: SimulatedHost) -> Bool {
        bytes.count > 48 && Array(bytes[0..<6]) == host.sleeper.card.bytes
            && Array(bytes[12..<14]) == [8, 0] && Array(bytes[30..<34]) == host.sleeper.address.bytes && bytes[47] == 2
    }
}

extension SimulatedLink {
    /// The next step of a host: wake up, or register.
    mutating func stepHost(_ index: Int) {
        switch hosts[index].state {
        case .asleep: break
        case .waking:
            note("host \(index) is awake")
            hosts[index].state = .awake(since: now, attempts: 0)
            hosts[index].sleeper.sequence &+= 1
            let sleeper = hosts[index].sleeper
            if random.chance(0.5) {
                send(Frames.arp(.announcement(of: sleeper.address, from: sleeper.card), from: sleeper.card))
            }
            for _ in 0..<2 { multicast(sleeper.announcement(owner: sleeper.owner), from: nil) }
            send(Frames.request(for: VirtualLink.router, from: sleeper.card, sleeper.address))
            schedule(.hostStep(index), after: random.duration(in: .seconds(5) ... .seconds(20)))
        case .awake(let since, let attempts):
            let running = proxies.filter { $0.machine != nil }
            guard let best = running.min(by: { $0.name.metrics < $1.name.metrics }),
                let proxy = proxies.firstIndex(where: { $0.card == best.card })
            else { break }
            // A new message has a new identifier; three attempts belong to one message.
            if attempts % 3 == 0 { hosts[index].sleeper.id &+= 1 }
            hosts[index].state = .awake(since: since, attempts: attempts + 1)
            let sleeper = hosts[index].sleeper
            if case .registration(let bytes, let peer) = sleeper.event(), !random.chance(0.05) {
                schedule(.datagram(bytes, to: proxy, from: peer), after: .milliseconds(2))
            }
            // An awake host uses the network.
            send(Frames.request(for: VirtualLink.router, from: sleeper.card, sleeper.address))
            multicast(sleeper.announcement(owner: sleeper.owner), from: nil)
            schedule(.hostStep(index), after: .seconds(2))
        }
    }

    mutating func stepClient() {
        for (index, host) in hosts.enumerated() where !isDisturbed || random.chance(0.05) { connect(to: host, index) }
        schedule(.clientStep, after: .seconds(isDisturbed ? 2 : 1))
    }

    private mutating func connect(to host: SimulatedHost, _ index: Int) {
        let address = host.sleeper.address
        guard let card = client.cache[address], !random.chance(0.2) else {
            return send(Frames.request(for: address, from: VirtualLink.client, VirtualLink.clientV4))
        }
        send(
            Frames.segment(
                .syn, to: .v4(address), port: host.sleeper.port, from: VirtualLink.client,
                .v4(VirtualLink.clientV4), destination: card))
    }

    /// One attack of a random kind.
    mutating func attack() {
        guard isDisturbed else { return }
        schedule(.attack, after: random.duration(in: .seconds(1) ... .seconds(6)))
        var forged = Self.printer
        forged.card = Self.attackerCard
        let victim = hosts[Int.random(in: 0..<hosts.count, using: &random)].sleeper
        switch Int.random(in: 0..<8, using: &random) {
        case 0: break
        case 1:
            // The printer's name with the attacker's address.
            forged.address = Self.attackerAddress
        case 2:
            forged = victim
            forged.card = Self.attackerCard
            forged.primary = victim.card
            forged.sequence &+= 1
        case 3:
            forged = victim
            forged.sequence &+= UInt8.random(in: 0...3, using: &random)
            forged.port = 9
        case 4:
            forged.name = "evil"
            forged.address = Self.attackerAddress
        case 5:
            return send(
                Frames.arp(.announcement(of: victim.address, from: Self.attackerCard), from: Self.attackerCard))
        case 6: return multicast(victim.announcement(from: .v4(Self.attackerAddress)), from: nil)
        case _:
            var bytes = (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) }
            bytes.replaceSubrange(0..<6, with: MACAddress.broadcast.bytes)
            bytes.replaceSubrange(6..<12, with: Self.attackerCard.bytes)
            bytes.replaceSubrange(12..<14, with: [[8, 6], [8, 0], [0x86, 0xDD]].randomElement(using: &random)!)
            return send(bytes)
        }
        // The attacker does not see the identifiers of other messages.
        forged.id = .random(in: .min ... .max, using: &random)
        let peers = [IPAddress.v4(Self.attackerAddress), .v4(forged.address)]
        let peer = Peer(address: peers.randomElement(using: &random)!, port: 4000)
        guard case .registration(let bytes, _) = forged.event(from: peer) else { return }
        for index in proxies.indices { schedule(.datagram(bytes, to: index, from: peer), after: .milliseconds(1)) }
    }
}
