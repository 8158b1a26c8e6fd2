import DNSWire

/// The interfaces of this host with multicast.
///
/// Detects interfaces on one link, for example a cable and the wireless network of one house. Each interface publishes
/// the addresses of all interfaces on its link, as one set. If each published only its own, the cache-flush bit of one
/// interface's packet would remove the addresses of the other (RFC 6762 §10.2), and peers would see only one address at
/// a time.
struct HostNetworks: Sendable {
    private var networks: [InterfaceID: NetworkInterface] = [:]
    /// Pairs of interfaces on one link: one interface of the pair received a packet that this host sent on the other
    /// one.
    private var sharedLinks: Set<Set<InterfaceID>> = []

    subscript(id: InterfaceID) -> NetworkInterface? { networks[id] }

    /// The interfaces in the order of their ids, which makes runs repeatable.
    var ids: [InterfaceID] { networks.keys.sorted() }

    /// Returns true if any interface publishes this address record.
    func containsPublished(_ data: RecordData) -> Bool {
        networks.values.contains { $0.published.contains { RecordData($0) == data } }
    }

    /// Adds the interface, or changes it.
    mutating func set(_ network: NetworkInterface) { networks[network.id] = network }

    /// Removes the interface and returns it, or nil if it is unknown.
    mutating func remove(_ id: InterfaceID) -> NetworkInterface? {
        guard let network = networks.removeValue(forKey: id) else { return nil }
        sharedLinks = sharedLinks.filter { !$0.contains(id) }
        return network
    }

    /// Notes a packet from an address of another interface of this host: both interfaces are on the same link.
    ///
    /// - Returns: true if the shared link was unknown.
    mutating func noteSharedLink(_ inbound: InboundMessage) -> Bool {
        let source = inbound.source.address
        guard networks.count > 1, let here = networks[inbound.interface], !here.has(source) else { return false }
        let others = networks.values.filter { $0.id != here.id && $0.has(source) }
        // If two other interfaces have the address, it identifies no single interface.
        return others.count == 1 && sharedLinks.insert([here.id, others[0].id]).inserted
    }

    /// Returns the interfaces for which the addresses of this host's other interfaces on the same link have changed.
    /// Each returned interface has the new addresses as its siblings.
    func withNewSiblings() -> [NetworkInterface] {
        let ids = ids
        return ids.compactMap { id in
            guard let network = networks[id] else { return nil }
            let onLink = ids.compactMap { other -> NetworkInterface? in
                guard other != id, let there = networks[other] else { return nil }
                return sharedLinks.contains([id, other]) || network.sharesSubnet(with: there) ? there : nil
            }
            let updated = network.with(siblings: onLink.flatMap(\.own))
            return updated == network ? nil : updated
        }
    }
}

extension NetworkInterface {
    fileprivate func has(_ address: IPAddress) -> Bool { addresses.contains { $0.address == address } }

    /// Returns true if both interfaces have addresses in one subnet, which is also a sign of a common link. IPv4 needs
    /// this check, because the kernel drops IPv4 packets from the host's own addresses. Every link has the link-local
    /// subnets, so they do not count.
    fileprivate func sharesSubnet(with other: NetworkInterface) -> Bool {
        addresses.contains { own in
            !own.address.isLinkLocal
                && other.addresses.contains { $0.prefixLength == own.prefixLength && own.coversSubnet(of: $0.address) }
        }
    }
}
