import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN

/// The shell of a ``DiscoveryNode`` on the simulated LAN, for a host with one interface.
struct DiscoveryShell {
    /// The output of the node: datagrams for the LAN, and other actions for the host.
    struct Outcome {
        var datagrams: [HostAction] = []
        var news: [DiscoveryNode.Action] = []
    }

    private static let groups: [IPFamily: LANEndpoint] = [
        .v4: LANEndpoint(LANAddress(bytes: RFC6762.groupV4.bytes)!, RFC6762.port),
        .v6: LANEndpoint(LANAddress(bytes: RFC6762.groupV6.bytes)!, RFC6762.port),
    ]
    /// The kernel's index of the interface.
    static let index: UInt32 = 1

    private(set) var node: DiscoveryNode
    private(set) var sent = 0
    private var interface: LANInterface?
    private var addresses: [LANAddress] = []

    init(seed: UInt64) { node = DiscoveryNode(random: SeededRandom(seed: seed)) }

    var nextDeadline: Instant? { node.nextDeadline }

    mutating func handle(_ event: DiscoveryNode.Event, now: Instant) -> Outcome {
        var outcome = Outcome()
        for action in node.handle(event, now: now) {
            guard case .send(let datagram) = action else {
                outcome.news.append(action)
                continue
            }
            if let sending = sending(datagram) {
                sent += 1
                outcome.datagrams.append(sending)
            }
        }
        return outcome
    }

    mutating func up(_ interface: LANInterface, _ addresses: [LANAddress], now: Instant) -> Outcome {
        self.interface = interface
        self.addresses = addresses
        let network = NetworkInterface(
            id: Self.index, name: "lan",
            addresses: addresses.map {
                InterfaceAddress(IPAddress(bytes: $0.bytes)!, prefixLength: $0.isIPv4 ? 24 : 64)
            })
        return handle(.interfaceChanged(network), now: now)
    }

    mutating func down(now: Instant) -> Outcome {
        interface = nil
        return handle(.interfaceRemoved(Self.index), now: now)
    }

    mutating func received(_ datagram: Datagram, now: Instant) -> Outcome {
        let inbound = InboundDatagram(
            bytes: datagram.payload, interface: Self.index, source: IPAddress(bytes: datagram.source.address.bytes)!,
            sourcePort: datagram.source.port, wasMulticast: datagram.destination.address.isMulticast)
        return handle(.received(inbound), now: now)
    }

    private func sending(_ datagram: OutboundDatagram) -> HostAction? {
        let destination: LANEndpoint
        let isIPv4: Bool
        switch datagram.destination {
        case .multicast(let family): (destination, isIPv4) = (Self.groups[family]!, family == .v4)
        case .unicast(let address, let port):
            (destination, isIPv4) = (LANEndpoint(LANAddress(bytes: address.bytes)!, port), address.family == .v4)
        }
        guard let interface, let source = addresses.first(where: { $0.isIPv4 == isIPv4 }) else { return nil }
        return .send(
            Datagram(from: LANEndpoint(source, RFC6762.port), to: destination, datagram.bytes), on: interface)
    }
}
