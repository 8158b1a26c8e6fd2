import DNSWire
import ProtocolCore

/// Several interfaces of this host on one link, a cable and the wireless network of one house for instance. Each publishes the
/// addresses of all, as one set: otherwise the cache-flush bit of what one interface says would take away what the other said
/// (RFC 6762 §10.2), and everybody would see only one of the addresses at a time.
extension Responder {
    /// What comes from an address of another interface of ours has gone over a link that both are on.
    mutating func noteSharedLink(_ inbound: InboundMessage, now: Instant, _ actions: inout [Action]) {
        let source = inbound.source.address
        guard attachments.count > 1, let here = attachments[inbound.interface]?.network, !here.has(source) else {
            return
        }
        let others = attachments.values.map(\.network).filter { $0.id != here.id && $0.has(source) }
        // An address that two others have tells nothing.
        guard others.count == 1, sharedLinks.insert([here.id, others[0].id]).inserted else { return }
        updateSiblings(now: now, &actions)
    }

    /// Gives every interface the addresses of those on its link.
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

    /// IPv4 hears nothing of itself from another interface, since the kernel drops what claims to come from its own address; two
    /// addresses in one subnet are as good a sign. Every link has the link-local subnets.
    fileprivate func sharesSubnet(with other: NetworkInterface) -> Bool {
        addresses.contains { own in
            !own.address.isLinkLocal
                && other.addresses.contains { $0.prefixLength == own.prefixLength && own.coversSubnet(of: $0.address) }
        }
    }
}
