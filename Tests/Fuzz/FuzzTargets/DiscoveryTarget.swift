import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery

extension FuzzTarget {
    /// Sends multicast packets to a node that registers, browses and resolves. The node keeps running, causes no storm,
    /// and sends only valid packets. Each datagram has a two-byte length in front.
    static let discovery = FuzzTarget(
        name: "discovery",
        seeds: {
            DiscoveryLink.recorded.map { framed([$0.bytes]) } + [framed(DiscoveryLink.recorded.suffix(6).map(\.bytes))]
        },
        check: { bytes in
            var link = DiscoveryLink.announced
            let before = link.nodes[0].malformedCount
            let heard = datagrams(in: bytes).prefix(8)
            for datagram in heard {
                link.hear(datagram)
                link.run(for: .milliseconds(300))
            }
            // Up to eight packets cause the answers, probes and queries of the node. A node that never stops sending
            // exceeds the limit.
            try require(link.sent.count < 200, "\(link.sent.count) packets were sent for \(heard.count)")
            for datagram in link.sent {
                try require((try? Message(decoding: datagram.bytes)) != nil, "an invalid packet was sent")
            }
            return link.nodes[0].malformedCount - before < heard.count
        })
}

/// Nodes on one network in virtual time.
struct DiscoveryLink {
    static let type: ServiceType = "_smartplug._tcp"
    static let txt: TXTRecord = {
        do {
            return try TXTRecord(["txtvers": "1", "id": "0123456789ab", "pv": "1", "pair": "0", "caps": "relay"])
        } catch { preconditionFailure("\(error)") }
    }()

    private(set) var nodes: [DiscoveryNode] = []
    private(set) var sent: [OutboundDatagram] = []
    private var now = Instant.zero
    /// The largest number of deadlines in one run. A node that needs more schedules itself in a loop.
    private static let patience = 10_000

    /// The packets of two nodes while one registers a service, the other browses for it, and then the registering node
    /// stops.
    static let recorded: [OutboundDatagram] = {
        var link = DiscoveryLink(nodes: 2)
        link.send(.stop, to: 0)
        link.run(for: .seconds(2))
        return link.sent
    }()

    /// One idle node. It is created once, and each input gets a copy.
    static let announced: DiscoveryLink = {
        var link = DiscoveryLink(nodes: 1)
        link.sent = []
        return link
    }()

    private init(nodes count: Int) {
        var random = SeededRandom(seed: 1)
        for index in 0..<count {
            nodes.append(DiscoveryNode(random: random.split()))
            let address = InterfaceAddress(.v4(10, 0, 0, UInt8(index + 1)), prefixLength: 24)
            send(
                .interfaceChanged(NetworkInterface(id: 2, name: "eth0", addresses: [address], families: [.v4])),
                to: index)
        }
        do {
            let lamp = try ServiceRegistration(
                name: "Lamp", type: Self.type, hostName: "plug-6789ab", port: 4000, txt: Self.txt)
            send(.register(RegistrationID(rawValue: 1), lamp), to: 0)
        } catch {
            preconditionFailure("\(error)")
        }
        send(.browse(BrowseID(rawValue: 1), Self.type), to: count - 1)
        send(.resolve(ResolveID(rawValue: 1), ServiceIdentity(name: "Lamp", type: Self.type)), to: count - 1)
        run(for: .seconds(20))
    }

    private mutating func send(_ event: DiscoveryNode.Event, to node: Int) {
        for action in nodes[node].handle(event, now: now) {
            guard case .send(let datagram) = action else { continue }
            sent.append(datagram)
            for other in nodes.indices where other != node {
                send(.received(inbound(datagram.bytes, from: UInt8(node + 1))), to: other)
            }
        }
    }

    /// Delivers a packet from a neighbour.
    mutating func hear(_ bytes: [UInt8]) { send(.received(inbound(bytes, from: 77)), to: 0) }

    mutating func run(for duration: Duration) {
        let end = now + duration
        for _ in 0..<Self.patience {
            let next = nodes.enumerated().compactMap { index, node in node.nextDeadline.map { ($0, index) } }
                .min { $0.0 < $1.0 }
            guard let (deadline, index) = next, deadline <= end else {
                now = end
                return
            }
            now = max(now, deadline)
            send(.deadlineReached, to: index)
        }
        preconditionFailure("nodes had \(Self.patience) deadlines within \(duration)")
    }

    private func inbound(_ bytes: [UInt8], from host: UInt8) -> InboundDatagram {
        InboundDatagram(
            bytes: bytes, interface: 2, source: .v4(10, 0, 0, host), sourcePort: RFC6762.port, wasMulticast: true)
    }
}
