import DNSWire
import ProtocolCore

/// Detects interfaces of this host on one link, for example a cable and the wireless network of one house. Each
/// interface publishes the addresses of all, as one set. If each published only its own, the cache-flush bit of one
/// interface's packet would remove the addresses of the other (RFC 6762 §10.2), and peers would see only one address at
/// a time.
extension Responder {
    /// Notes a packet from an address of another interface of this host: both interfaces are on the same link.
    mutating func noteSharedLink(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let source = inbound.source.address
        guard attachments.count > 1, let here = attachments[inbound.interface]?.network, !here.has(source) else {
            return
        }
        let others = attachments.values.map(\.network).filter { $0.id != here.id && $0.has(source) }
        // If two other interfaces have the address, it identifies no single interface.
        guard others.count == 1, sharedLinks.insert([here.id, others[0].id]).inserted else { return }
        updateSiblings(now: now, &actions)
    }

    /// Adds to each interface the addresses of the other interfaces on its link.
    mutating func updateSiblings(now: Instant, _ actions: inout [Action]) {
        for interface in orderedInterfaces {
            guard var network = attachments[interface]?.network else { continue }
            let onLink = orderedInterfaces.compactMap { other -> NetworkInterface? in
                guard other != interface, let there = attachments[other]?.network else { return nil }
                return sharedLinks.contains([interface, other]) || network.sharesSubnet(with: there) ? there : nil
            }
            network.siblings = onLink.flatMap(\.own)
            if network != attachments[interface]?.network { change(to: network, now: now, &actions) }
        }
    }
}

extension NetworkInterface {
    fileprivate func has(_ address: IPAddress) -> Bool { addresses.contains { $0.address == address } }

    /// Returns true if both interfaces have addresses in one subnet, which is also a sign of a common link. It is
    /// needed for IPv4, because the kernel drops IPv4 packets from the host's own addresses. Every link has the
    /// link-local subnets, so they do not count.
    fileprivate func sharesSubnet(with other: NetworkInterface) -> Bool {
        addresses.contains { own in
            !own.address.isLinkLocal
                && other.addresses.contains { $0.prefixLength == own.prefixLength && own.coversSubnet(of: $0.address) }
        }
    }
}
