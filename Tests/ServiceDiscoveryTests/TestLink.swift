import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery

/// Nodes on one broadcast domain in virtual time. Packets take 1 ms and also reach their sender, like multicast
/// loopback.
struct TestLink {
    struct Packet {
        let time: Instant
        let sender: Int
        let datagram: OutboundDatagram

        var message: Message {
            do { return try Message(decoding: datagram.bytes) } catch {
                preconditionFailure("a node sent an invalid message: \(error)")
            }
        }
    }

    struct Report {
        let time: Instant
        let node: Int
        let action: DiscoveryNode.Action
    }

    var nodes: [DiscoveryNode] = []
    var now = Instant.zero
    private(set) var packets: [Packet] = []
    private(set) var reports: [Report] = []
    private var inFlight: [(due: Instant, packet: Packet)] = []
    private var random: SeededRandom
    private let loss: Double
    /// The nodes that are switched off.
    var dead: Set<Int> = []

    init(nodes count: Int, seed: UInt64 = 1, loss: Double = 0, families: Set<IPFamily> = [.v4]) {
        random = SeededRandom(seed: seed)
        self.loss = loss
        for index in 0..<count {
            nodes.append(DiscoveryNode(random: random.split()))
            send(.interfaceChanged(Self.interface(of: index, families: families)), to: index)
        }
    }

    static func address(of node: Int) -> IPAddress { .v4(10, 0, UInt8(node >> 8), UInt8(node & 0xFF)) }

    static func interface(of node: Int, families: Set<IPFamily> = [.v4]) -> NetworkInterface {
        let v6 = IPAddress.v6(IPv6Address(high: 0xFE80 << 48, low: UInt64(node) + 1))
        let all = [
            InterfaceAddress(address(of: node), prefixLength: 8), InterfaceAddress(v6, prefixLength: 64),
        ]
        return NetworkInterface(
            id: 2, name: "eth0", addresses: all.filter { families.contains($0.address.family) }, families: families)
    }

    mutating func send(_ event: DiscoveryNode.Event, to node: Int) {
        for action in nodes[node].handle(event, now: now) {
            switch action {
            case .send(let datagram):
                let packet = Packet(time: now, sender: node, datagram: datagram)
                packets.append(packet)
                inFlight.append((now + .milliseconds(1), packet))
            case .registered, .nameTaken, .browse, .types, .resolved, .unresolved, .displaced, .conflicted, .heard:
                reports.append(Report(time: now, node: node, action: action))
            }
        }
    }

    mutating func run(for duration: Duration) { run(until: now + duration) }

    mutating func run(until end: Instant) {
        while true {
            let living = nodes.indices.filter { !dead.contains($0) }
            let deadline = living.reduce(nil) { sooner($0, nodes[$1].nextDeadline) }
            guard let next = sooner(inFlight.first?.due, deadline), next <= end else { break }
            now = max(now, next)
            let arrived = inFlight.prefix { $0.due <= now }
            inFlight.removeFirst(arrived.count)
            for (_, packet) in arrived { deliver(packet) }
            for node in living where nodes[node].nextDeadline.map({ $0 <= now }) == true {
                send(.deadlineReached, to: node)
            }
        }
        now = end
    }

    private mutating func deliver(_ packet: Packet) {
        for node in nodes.indices where !dead.contains(node) && !random.chance(loss) {
            switch packet.datagram.destination {
            case .multicast(let family):
                let source = Self.interface(of: packet.sender, families: [family]).addresses[0].address
                send(.received(inbound(packet, from: source, wasMulticast: true)), to: node)
            case .unicast(let address, _):
                guard address == Self.address(of: node) else { continue }
                let source = Self.address(of: packet.sender)
                send(.received(inbound(packet, from: source, wasMulticast: false)), to: node)
            }
        }
    }

    private func inbound(_ packet: Packet, from source: IPAddress, wasMulticast: Bool) -> InboundDatagram {
        InboundDatagram(
            bytes: packet.datagram.bytes, interface: 2, source: source, sourcePort: RFC6762.port,
            wasMulticast: wasMulticast
        )
    }

    /// The last registered name of each node.
    var names: [Int: String] {
        var names: [Int: String] = [:]
        for report in reports {
            if case .registered(_, let name) = report.action { names[report.node] = name }
        }
        return names
    }

    func changes(at node: Int) -> [(time: Instant, change: ServiceChange)] {
        reports.compactMap { report in
            guard report.node == node, case .browse(_, let change) = report.action else { return nil }
            return (report.time, change)
        }
    }
}

func lamp(
    _ name: String = "Lamp", host: String = "plug-1a2b3c", port: UInt16 = 4000, subtypes: [String] = []
) throws -> ServiceRegistration {
    try ServiceRegistration(
        name: name, type: "_smartplug._tcp", subtypes: subtypes, hostName: host, port: port,
        txt: TXTRecord(["txtvers": "1", "id": host]))
}
