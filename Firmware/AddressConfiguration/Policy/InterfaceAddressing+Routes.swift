import DNSWire

/// Computes the routes.
extension InterfaceAddressing {
    /// The metric of link-local routes, to which the interface's own metric is added. The routes of all leases have
    /// smaller metrics.
    static let linkLocalMetric: UInt32 = 1000
    /// The metric of the link-local network on an interface that only has a leased address; the interface's own metric
    /// is added. Interfaces with a link-local address are preferred.
    static let leasedNeighboursMetric: UInt32 = 2000
    /// The limit of routes, which covers a server's routes in a message of ordinary size. It bounds the work that one
    /// message causes in the kernel.
    static let routeLimit = 64

    /// The routes for the interface's addresses. A neighbour with a link-local address is always on the link and never
    /// behind a router (RFC 3927 §2.6.2). If the interface has only a link-local address, all other destinations count
    /// as hosts on the link, so that a neighbour with an address of any network can be reached with one ARP request.
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

    /// The routes of an interface that has only a deprecated address, for its existing connections.
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

    /// Returns the routes to the lease's network, to other hosts on the link, and to networks behind routers.
    private func routes(of lease: DHCPLease) -> [Route] {
        let metric = configuration.routeMetric
        let network = ClasslessRoute(destination: lease.address, prefixLength: lease.prefixLength, router: .any)
        // Only the preferred router is used. The kernel does not notice when a router fails, so it would not use a
        // second one.
        let way = lease.routers.prefix(1).map { ClasslessRoute(destination: .any, prefixLength: 0, router: $0) }
        let given = ([network] + lease.routes + way).filter { !$0.destination.isLinkLocal }
        let visible = given.filter { $0.router == .any && $0.prefixLength > 0 }
        var list = visible.filter { $0 != network || $0.prefixLength < 32 }.map {
            onLink($0.destination, $0.prefixLength, from: lease.address, metric)
        }
        for route in given where route.router != .any {
            if !visible.contains(where: { $0.destination == route.router.network(prefixLength: $0.prefixLength) }) {
                // Some providers have routers outside the network. The kernel rejects a router without a route on the
                // link, so such a router gets its own route.
                list.append(onLink(route.router, 32, from: lease.address, metric))
            }
            list.append(
                Route(
                    destination: route.destination, prefixLength: route.prefixLength, router: route.router,
                    source: lease.address, metric: metric))
        }
        return list
    }

    /// Keeps the first route per destination and metric, up to the limit.
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
