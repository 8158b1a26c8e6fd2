import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import SleepProxy

/// A link in virtual time with one proxy and hosts that answer ARP and neighbour discovery while they are awake. Frames
/// arrive after a millisecond, if the capture filter of the proxy permits.
struct VirtualLink {
    /// A host of the link.
    struct Host {
        var card: MACAddress
        var addresses: [IPAddress]
        var isAwake = true
    }

    static let plug = MACAddress(2, 0, 0, 0, 0, 1)
    static let plugV4 = IPv4Address(192, 168, 1, 2)
    static let plugV6 = IPv6Address(high: 0xFE80 << 48, low: 2)
    static let router = IPv4Address(192, 168, 1, 1)
    static let own = SleepProxyName.Metrics(type: 50, portability: 50, marginalPower: 50, totalPower: 50)
    static let link = ProxyLink(
        interface: 3, hardware: plug,
        addresses: [
            InterfaceAddress(.v4(plugV4), prefixLength: 24), InterfaceAddress(.v6(plugV6), prefixLength: 64),
            InterfaceAddress(.v6(IPv6Address(high: 0x2001_0DB8 << 32, low: 2)), prefixLength: 64),
        ], infrastructure: [.v4(router)], names: ["plug.local"])
    static let latency = Duration.milliseconds(1)

    private(set) var now = Instant.zero + .seconds(100)
    var proxy: SleepProxy
    var hosts: [Host] = []
    /// The actions since the last call of ``takeActions()``.
    private var actions: [(time: Instant, action: SleepProxy.Action)] = []
    private var arriving: [(time: Instant, event: SleepProxy.Event)] = []
    private(set) var filter = CaptureFilter()
    private(set) var stored: StoredSleepers?
    /// The groups that are published now.
    private(set) var published: [GroupID: RecordGroup] = [:]

    init(
        limits: SleepProxyLimits = SleepProxyLimits(), stored: StoredSleepers? = nil, histories: [SleepHistory] = [],
        at start: Instant? = nil, link: ProxyLink? = Self.link
    ) {
        proxy = SleepProxy(
            random: SeededRandom(seed: 1), metrics: Self.own, limits: limits, stored: stored, histories: histories)
        if let start { now = start }
        handle(.linkChanged(link))
    }

    mutating func handle(_ event: SleepProxy.Event) {
        for action in proxy.handle(event, now: now) { perform(action) }
    }

    private mutating func perform(_ action: SleepProxy.Action) {
        actions.append((now, action))
        switch action {
        case .send(let bytes):
            for host in hosts where host.isAwake {
                for answer in host.answers(to: bytes) { arriving.append((now + Self.latency, .frame(answer))) }
            }
        case .capture(let filter): self.filter = filter
        case .save(let stored): self.stored = stored
        case .publish(let id, let group, _): published[id] = group
        case .withdraw(let id, _): published[id] = nil
        case .answer, .note: break
        }
    }

    /// Runs the link for a time.
    mutating func run(_ duration: Duration) {
        let end = now + duration
        while true {
            arriving.sort { $0.time < $1.time }
            let next = sooner(arriving.first?.time, proxy.nextDeadline)
            guard let next, next <= end else { break }
            now = max(now, next)
            guard let first = arriving.first, first.time <= now else {
                handle(.deadlineReached)
                continue
            }
            arriving.removeFirst()
            guard case .frame(let bytes) = first.event else {
                handle(first.event)
                continue
            }
            if filter.accepts(bytes) { handle(.frame(bytes)) }
        }
        now = end
    }

    /// Delivers a frame now, if the filter permits.
    mutating func deliver(_ bytes: [UInt8]) {
        if filter.accepts(bytes) { handle(.frame(bytes)) }
    }

    /// Returns the actions since the last call with their times.
    mutating func takeTimedActions() -> [(time: Instant, action: SleepProxy.Action)] {
        defer { actions = [] }
        return actions
    }

    /// Returns the actions since the last call.
    mutating func takeActions() -> [SleepProxy.Action] { takeTimedActions().map(\.action) }
}

extension VirtualLink.Host {
    /// Returns the answers of an awake host to a frame.
    func answers(to bytes: [UInt8]) -> [[UInt8]] {
        guard let frame = try? EthernetFrame(decoding: bytes), frame.destination.isGroup || frame.destination == card
        else { return [] }
        if frame.type == EthernetFrame.arp, let packet = try? ARPPacket(decoding: frame.payload),
            packet.operation == .request, packet.senderHardware != card,
            addresses.contains(.v4(packet.targetAddress)), packet.senderAddress != packet.targetAddress
        {
            return [Frames.arp(.reply(to: packet, from: card), from: card, to: packet.senderHardware)]
        }
        if frame.type == EthernetFrame.ipv6, let packet = try? IPv6Packet(decoding: frame.payload),
            let message = try? NeighborMessage(decoding: packet), message.kind == .solicitation,
            addresses.contains(.v6(message.target))
        {
            let answer = NeighborMessage(
                .advertisement(isSolicited: true, overrides: true), target: message.target, hardware: card)
            return [Frames.ipv6(answer.packet(from: message.target, to: packet.source), from: card, to: frame.source)]
        }
        return []
    }
}

/// Frames of hosts.
enum Frames {
    static func arp(_ packet: ARPPacket, from card: MACAddress, to destination: MACAddress = .broadcast) -> [UInt8] {
        EthernetFrame(destination: destination, source: card, type: EthernetFrame.arp, payload: packet.encoded).encoded
    }

    static func ipv6(_ packet: IPv6Packet, from card: MACAddress, to destination: MACAddress) -> [UInt8] {
        EthernetFrame(destination: destination, source: card, type: EthernetFrame.ipv6, payload: packet.encoded).encoded
    }

    static func request(
        for address: IPv4Address, from card: MACAddress, _ sender: IPv4Address, to destination: MACAddress = .broadcast
    ) -> [UInt8] {
        let packet = ARPPacket(
            operation: .request, senderHardware: card, senderAddress: sender, targetHardware: .zero,
            targetAddress: address)
        return arp(packet, from: card, to: destination)
    }

    /// A TCP segment.
    static func segment(
        _ flags: InternetPacket.TCPFlags, to address: IPAddress, port: UInt16, from card: MACAddress,
        _ sender: IPAddress, destination: MACAddress = VirtualLink.plug
    ) -> [UInt8] {
        let packet = InternetPacket.tcp(
            from: TracedEndpoint(sender.bytes, 50_000), to: TracedEndpoint(address.bytes, port), flags, sequence: 7,
            acknowledgement: 0)
        return internet(packet, address.family, from: card, to: destination)
    }

    /// A UDP datagram.
    static func datagram(
        to address: IPAddress, port: UInt16, from card: MACAddress, _ sender: IPAddress,
        destination: MACAddress = VirtualLink.plug
    ) -> [UInt8] {
        let packet = InternetPacket.udp(
            from: TracedEndpoint(sender.bytes, 50_000), to: TracedEndpoint(address.bytes, port), [1, 2, 3])
        return internet(packet, address.family, from: card, to: destination)
    }

    /// An ICMP echo request.
    static func ping(_ address: IPv4Address, from card: MACAddress, _ sender: IPv4Address) -> [UInt8] {
        let packet = IPv4Packet(
            source: sender, destination: address, transport: 1, payload: [8, 0, 0xF7, 0xFF, 0, 0, 0, 0])
        return internet(packet.encoded, .v4, from: card, to: VirtualLink.plug)
    }

    static func internet(
        _ packet: [UInt8], _ family: IPFamily, from card: MACAddress, to destination: MACAddress
    ) -> [UInt8] {
        EthernetFrame(
            destination: destination, source: card, type: family == .v4 ? EthernetFrame.ipv4 : EthernetFrame.ipv6,
            payload: packet
        ).encoded
    }
}

extension CaptureFilter {
    /// Returns true if the packet socket delivers the frame.
    func accepts(_ bytes: [UInt8]) -> Bool {
        guard let frame = try? EthernetFrame(decoding: bytes),
            frame.destination.isGroup || frame.destination == VirtualLink.plug
        else { return false }
        if cards.contains(frame.source) { return true }
        switch frame.type {
        case EthernetFrame.arp:
            guard let packet = try? ARPPacket(decoding: frame.payload) else { return false }
            return addresses.contains(.v4(packet.targetAddress)) || addresses.contains(.v4(packet.senderAddress))
        case EthernetFrame.ipv4:
            guard frame.payload.count >= 20 else { return false }
            return IPAddress(bytes: frame.payload[16..<20]).map(addresses.contains) ?? false
        case EthernetFrame.ipv6:
            guard let packet = try? IPv6Packet(decoding: frame.payload) else { return false }
            guard let message = try? NeighborMessage(decoding: packet) else {
                return addresses.contains(.v6(packet.destination))
            }
            return addresses.contains(.v6(message.target))
        default: return false
        }
    }
}
