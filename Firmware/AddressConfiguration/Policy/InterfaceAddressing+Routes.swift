import DNSWire
import LinkWire

/// Where packets go.
extension InterfaceAddressing {
    /// Behind all leases of all interfaces of the host.
    static let linkLocalMetric: UInt32 = 1000
    /// Neighbours with a link-local address are first sought where we have one too.
    static let leasedNeighboursMetric: UInt32 = 2000
    /// As many as a server's routes fit into a message of ordinary size. Bounds what one message costs the kernel.
    static let routeLimit = 64

    /// Those of the addresses that the interface has. A neighbour with a link-local address is on the link whatever address we
    /// have, and never behind a router (RFC 3927 §2.6.2); with nothing but a link-local address everybody else is sought on the
    /// link as well: a host with an address of a server that we do not hear is one ARP request away.
    var routes: [Route] {
        var own: IPv4Address?
        if case .held(let claim, _) = linkLocal, isPresent(claim.address) { own = claim.address }
        var leased: DHCPLease?
        if case .bound(let lease, _) = lease, isPresent(lease.address) { leased = lease }
        if let leased {
            let metric = own == nil ? Self.leasedNeighboursMetric : Self.linkLocalMetric
            let all = [neighbours(from: own ?? leased.address, metric)] + routes(of: leased)
            return lessened(all)
        }
        guard let own else { return deprecatedNeighbours }
        return [neighbours(from: own), onLink(.any, 0, from: own, Self.linkLocalMetric + configuration.routeMetric)]
    }

    /// Nothing but a deprecated address: what lives on it still has to get out.
    private var deprecatedNeighbours: [Route] {
        guard case .deprecated(let claim, _, _) = linkLocal, isPresent(claim.address) else { return [] }
        return [neighbours(from: claim.address)]
    }

    private func isPresent(_ address: IPv4Address) -> Bool { interface.present.contains(address) }

    private func neighbours(from source: IPv4Address, _ metric: UInt32 = Self.linkLocalMetric) -> Route {
        onLink(RFC3927.prefix, RFC3927.prefixLength, from: source, metric + configuration.routeMetric)
    }

    private func onLink(
        _ destination: IPv4Address, _ prefixLength: UInt8, from source: IPv4Address, _ metric: UInt32
    ) -> Route {
        Route(destination: destination, prefixLength: prefixLength, source: source, metric: metric)
    }

    /// Its network, what else is on the link, and what is behind routers.
    private func routes(of lease: DHCPLease) -> [Route] {
        let metric = configuration.routeMetric
        let network = ClasslessRoute(destination: lease.address, prefixLength: lease.prefixLength, router: .any)
        // Of several routers the preferred one; the kernel would not notice that it died, so that a second one helps nobody.
        let way = lease.routers.prefix(1).map { ClasslessRoute(destination: .any, prefixLength: 0, router: $0) }
        let given = ([network] + lease.routes + way).filter { !$0.destination.isLinkLocal }
        let visible = given.filter { $0.router == .any && $0.prefixLength > 0 }
        var list = visible.filter { $0 != network || $0.prefixLength < 32 }.map {
            onLink($0.destination, $0.prefixLength, from: lease.address, metric)
        }
        for route in given where route.router != .any {
            if !visible.contains(where: { $0.destination == route.router.network(prefixLength: $0.prefixLength) }) {
                // The kernel takes no router that it cannot see; some providers have theirs outside the network.
                list.append(onLink(route.router, 32, from: lease.address, metric))
            }
            list.append(
                Route(
                    destination: route.destination, prefixLength: route.prefixLength, router: route.router,
                    source: lease.address, metric: metric))
        }
        return list
    }

    /// One route a destination, the first, and not more than the limit.
    private func lessened(_ routes: [Route]) -> [Route] {
        var known: Set<Route> = []
        let single = routes.filter { route in
            known.insert(
                Route(destination: route.destination, prefixLength: route.prefixLength, metric: route.metric)
            ).inserted
        }
        return Array(single.prefix(Self.routeLimit))
    }
}
