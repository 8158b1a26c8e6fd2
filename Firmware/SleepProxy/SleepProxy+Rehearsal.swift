import AddressConfiguration
import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery

extension SleepProxy {
    /// Wakes an imaginary host in a separate machine, and sends nothing. The code of a wake is then in memory: reading it
    /// from a memory card would take longer than the first real wake may last.
    ///
    /// - Returns: true if the machine produced the magic packet.
    public static func rehearseWake() -> Bool {
        let (own, card) = (MACAddress(2, 0, 0, 0, 0, 1), MACAddress(2, 0, 0, 0, 0, 2))
        let (plug, host, port) = (IPv4Address(192, 0, 2, 1), IPv4Address(192, 0, 2, 2), UInt16(80))
        let name: Name = "host.local"
        let published = [
            Record(name: name, timeToLive: RFC6762.hostTimeToLive, data: .a(host)),
            Record(
                name: "Web._http._tcp.local", timeToLive: RFC6762.hostTimeToLive,
                data: .srv(priority: 0, weight: 0, port: port, target: name)),
        ]
        let metrics = SleepProxyName.Metrics(type: 99, portability: 99, marginalPower: 99, totalPower: 99)
        var proxy = SleepProxy(random: SeededRandom(seed: 0), metrics: metrics)
        guard let records = try? SleeperRecords(published, after: nil, limits: proxy.limits) else { return false }
        let addresses = [InterfaceAddress(.v4(plug), prefixLength: 24)]
        _ = proxy.handle(
            .linkChanged(ProxyLink(interface: 1, hardware: own, addresses: addresses)), now: .zero)
        proxy.sleepers.set(
            Sleeper(
                owner: OwnerOption(sequence: 0, primary: card), records: records, registered: .zero,
                expires: .zero + .seconds(Int64(proxy.limits.lease)),
                phase: .asleep(Announcements(limits: proxy.limits, now: .zero))))
        // The start of a TCP header: source and destination port, two numbers, the length, and the flag SYN.
        let segment = networkOrder(port) + networkOrder(port) + [UInt8](repeating: 0, count: 8) + [0x50, 0x02]
        let packet = IPv4Packet(source: plug, destination: host, transport: ReceivedFrame.tcp, payload: segment)
        let frame = EthernetFrame(
            destination: own, source: .zero, type: EthernetFrame.ipv4, payload: packet.encoded)
        let magic = MagicPacket(card: card).frame(from: own)
        return proxy.handle(.frame(frame.encoded), now: .zero).contains(.send(magic))
    }
}
