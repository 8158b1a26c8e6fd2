import DNSWire
import LinuxNetwork

/// The number of received packets per source address, by interface and IP family.
struct HeardHosts: Sendable {
    /// The maximum number of addresses. Prevents forged source addresses from filling the memory.
    static let limit = 4096

    private var counts: [PacketListener.Place: [IPAddress: Int]] = [:]
    private var size = 0

    static func collect(_ packets: AsyncStream<HeardPacket>) async -> HeardHosts {
        var heard = HeardHosts()
        for await packet in packets { heard.add(packet) }
        return heard
    }

    mutating func add(_ packet: HeardPacket) {
        let address = packet.source.address
        let place = PacketListener.Place(interface: packet.interface, family: address.family)
        if counts[place]?[address] == nil {
            guard size < Self.limit else { return }
            size += 1
        }
        counts[place, default: [:]][address, default: 0] += 1
    }

    /// Separates this host's own packets, which come from one of its addresses, from those of other hosts.
    func note(in links: inout [ObservedLink], of interfaces: [LinuxInterface]) {
        let own = Set(interfaces.flatMap(\.addresses).compactMap { IPAddress(bytes: $0.bytes) })
        for index in links.indices {
            for (address, count) in counts[links[index].place] ?? [:] {
                if own.contains(address) {
                    links[index].link.own += count
                } else {
                    links[index].link.others.insert(address)
                }
            }
        }
    }
}

/// The unfinished observations of one interface and IP family.
struct ObservedLink: Sendable {
    var place: PacketListener.Place
    var link: Observations.Link
}
