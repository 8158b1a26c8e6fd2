import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// Hosts on one link, in large numbers. A packet reaches all receivers at the same moment, as on a real link, and costs
/// one entry in the queue, so a thousand hosts are affordable.
struct Crowd {
    private enum Item {
        case start(Int)
        case packet(Packet)
        case deadline(Int)
    }

    private struct Packet {
        let sender: Int
        let datagram: OutboundDatagram
    }

    private static let delay: ClosedRange<Duration> = .microseconds(100) ... .milliseconds(2)

    private(set) var members: [CrowdMember]
    /// The group of each host; hosts of different groups do not receive each other's packets. Nil puts all hosts in one
    /// group.
    var groups: ((Int) -> Int)?
    /// The probability that one host misses a packet.
    var loss: Double
    private(set) var now = Instant.zero
    private(set) var sent = PacketCount()
    private(set) var delivered = 0
    /// The largest number of packets in one second so far.
    private(set) var busiestSecond = 0
    private var thisSecond: (number: Int64, packets: Int) = (0, 0)
    private var queue = EventQueue<Item>()
    private var random: SeededRandom

    /// Creates the hosts, which start within the first second. A nil member is a controller.
    init(seed: UInt64, loss: Double = 0, _ members: [ServiceRegistration?]) {
        random = SeededRandom(seed: seed)
        self.loss = loss
        self.members = []
        for (number, wanted) in members.enumerated() {
            self.members.append(CrowdMember(number: number, wanted: wanted, random: random.split()))
            queue.schedule(.start(number), at: .zero + random.duration(in: .zero ... .seconds(1)))
        }
    }

    mutating func run(until end: Instant) {
        while let time = queue.nextTime, time <= end, let (_, item) = queue.next() {
            now = time
            switch item {
            case .start(let number): handle(.interfaceChanged(members[number].network), number)
            case .packet(let packet): deliver(packet)
            case .deadline(let number):
                // A deadline that has moved has a different entry in the queue.
                if members[number].deadline == time { handle(.deadlineReached, number) }
            }
        }
        now = end
    }

    /// Resolves again every service that a controller has found.
    mutating func resolveAll() {
        for number in members.indices {
            for name in members[number].found.keys.sorted() { handle(members[number].resolve(name), number) }
        }
    }

    private mutating func deliver(_ packet: Packet) {
        let group = groups?(packet.sender)
        let source = CrowdMember.address(of: packet.sender)
        let recipient = recipient(of: packet.datagram)
        let inbound = InboundDatagram(
            bytes: packet.datagram.bytes, interface: CrowdMember.interface, source: source, sourcePort: RFC6762.port,
            wasMulticast: recipient == nil)
        for number in members.indices where number != packet.sender && (recipient ?? number) == number {
            guard groups?(number) == group, !random.chance(loss) else { continue }
            delivered += 1
            handle(.received(inbound), number)
        }
    }

    /// The receiver, or nil for a multicast packet.
    private func recipient(of datagram: OutboundDatagram) -> Int? {
        switch datagram.destination {
        case .multicast: nil
        case .unicast(let address, _): members.indices.first { CrowdMember.address(of: $0) == address }
        }
    }

    private mutating func handle(_ event: DiscoveryNode.Event, _ number: Int) {
        var events = [event]
        while let event = events.popLast() {
            for action in members[number].node.handle(event, now: now) {
                if case .send(let datagram) = action {
                    count(datagram)
                    let packet = Packet(sender: number, datagram: datagram)
                    queue.schedule(.packet(packet), at: now + random.duration(in: Self.delay))
                } else if let next = members[number].take(action) {
                    events.append(next)
                }
            }
        }
        let deadline = members[number].node.nextDeadline.map { max($0, now) }
        guard deadline != members[number].deadline || deadline == now else { return }
        members[number].deadline = deadline
        if let deadline { queue.schedule(.deadline(number), at: deadline) }
    }

    private mutating func count(_ datagram: OutboundDatagram) {
        sent.add(datagram.bytes)
        let second = now.nanoseconds / 1_000_000_000
        thisSecond = second == thisSecond.number ? (second, thisSecond.packets + 1) : (second, 1)
        busiestSecond = max(busiestSecond, thisSecond.packets)
    }
}

/// Counts packets by kind.
struct PacketCount: CustomStringConvertible {
    private(set) var responses = 0
    private(set) var probes = 0
    private(set) var queries = 0
    /// Packets that contain only known answers, which did not fit into their query (RFC 6762 §7.2).
    private(set) var continuations = 0

    var total: Int { responses + probes + queries + continuations }

    mutating func add(_ bytes: [UInt8]) {
        func count(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
        if bytes[2] & 0x80 != 0 {
            responses += 1
        } else if count(at: 8) > 0 {
            probes += 1
        } else if count(at: 4) > 0 {
            queries += 1
        } else {
            continuations += 1
        }
    }

    static func - (left: Self, right: Self) -> Self {
        var difference = left
        difference.responses -= right.responses
        difference.probes -= right.probes
        difference.queries -= right.queries
        difference.continuations -= right.continuations
        return difference
    }

    var description: String {
        "\(total) packets: \(responses) responses, \(probes) probes, \(queries) queries, \(continuations) continuations"
    }
}

/// A plug, or a controller if `wanted` is nil. A controller browses and resolves each service it finds once.
struct CrowdMember {
    static let type: ServiceType = "_smartplug._tcp"
    static let interface: UInt32 = 1

    let number: Int
    let wanted: ServiceRegistration?
    var node: DiscoveryNode
    var deadline: Instant?
    private(set) var registered: String?
    private(set) var found: [String: ResolvedService?] = [:]
    private var resolving: [ResolveID: String] = [:]
    private var lastResolve: UInt64 = 0

    init(number: Int, wanted: ServiceRegistration?, random: SeededRandom) {
        self.number = number
        self.wanted = wanted
        node = DiscoveryNode(random: random)
        let event: DiscoveryNode.Event =
            wanted.map { .register(RegistrationID(rawValue: 1), $0) } ?? .browse(BrowseID(rawValue: 1), Self.type)
        // Without an interface the node does nothing yet.
        _ = node.handle(event, now: .zero)
    }

    static func address(of number: Int) -> DNSWire.IPAddress { .v4(10, 0, UInt8(number >> 8), UInt8(number & 0xFF)) }

    var network: NetworkInterface {
        NetworkInterface(
            id: Self.interface, name: "eth0", addresses: [InterfaceAddress(Self.address(of: number), prefixLength: 16)])
    }

    mutating func resolve(_ name: String) -> DiscoveryNode.Event {
        lastResolve += 1
        let id = ResolveID(rawValue: lastResolve)
        resolving[id] = name
        found[name] = .some(nil)
        return .resolve(id, ServiceIdentity(name: name, type: Self.type))
    }

    /// Records the node's action, and returns the event with which the host responds.
    mutating func take(_ action: DiscoveryNode.Action) -> DiscoveryNode.Event? {
        switch action {
        case .registered(_, let name):
            registered = name
            return nil
        case .browse(_, .found(let identity, txt: _)):
            return resolve(identity.name)
        case .browse(_, .lost(let identity)):
            found[identity.name] = nil
            let resolves = resolving.filter { $0.value == identity.name }.keys
            for id in resolves { resolving[id] = nil }
            return resolves.first.map { .cancelResolve($0) }
        case .resolved(let id, let service):
            guard let name = resolving.removeValue(forKey: id) else { return nil }
            found[name] = service
            return .cancelResolve(id)
        case .browse(_, .changed), .nameTaken, .types, .unresolved, .displaced, .send, .conflicted, .heard:
            return nil
        }
    }
}
