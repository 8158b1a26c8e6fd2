import DNSWire
import ProtocolCore

/// Determines the desired state of the interface and its status.
extension InterfaceAddressing {
    var wanted: [AssignedAddress] {
        var addresses: [AssignedAddress] = []
        switch linkLocal {
        case .none, .waiting, .claiming: break
        case .held(let claim, _): addresses.append(.linkLocal(claim.address, isPreferred: true))
        case .deprecated(let claim, _, _): addresses.append(.linkLocal(claim.address, isPreferred: false))
        }
        if case .bound(let lease, _) = lease { addresses.append(.leased(lease)) }
        return addresses
    }

    /// Returns the actions from the current to the desired state, in an order that is always possible: our ARP replies
    /// start before an address is added, routes use existing addresses, and removals come last.
    mutating func settle(now: Instant) -> [Action] {
        weigh(now: now)
        let wanted = wanted
        let isSilent = !lingering.isEmpty || wanted.contains { $0.address.isLinkLocal }
        var actions: [Action] = []
        if isSilent { actions += interface.letKernelAnswer(false) }
        actions += interface.assign(wanted, validUntil: leaseEnd, now: now)
        // While only lingering addresses remain, their routes remain too.
        if !wanted.isEmpty || lingering.isEmpty { actions += interface.route(routes) }
        actions += interface.remove(except: lingering.union(wanted.map(\.address)))
        if !isSilent { actions += interface.letKernelAnswer(true) }
        switch lease {
        case .bound(let lease, _): actions += interface.handOn(lease.servers)
        case .none, .checking: if !lingering.contains(where: { !$0.isLinkLocal }) { actions += interface.handOn(nil) }
        }
        return actions + interface.remember(memory, now: now)
    }

    private var leaseEnd: Instant? {
        guard case .bound(let lease, _) = lease else { return nil }
        return lease.expires
    }

    /// The current state for the user.
    public var status: AddressingStatus {
        AddressingStatus(linkLocal: linkLocalStatus, dhcp: dhcpStatus, conflicts: conflicts)
    }

    private var linkLocalStatus: AddressingStatus.LinkLocal {
        switch linkLocal {
        case .none, .waiting: .none
        case .claiming(let claim): .claiming(claim.address)
        case .held(let claim, _): .held(claim.address)
        case .deprecated(let claim, _, _): .deprecated(claim.address)
        }
    }

    private var dhcpStatus: AddressingStatus.DHCP {
        guard isLinkUp else { return .off }
        switch lease {
        case .none, .checking: return .searching
        case .bound(let lease, _):
            if case .owner = source { return .fixed(lease.address) }
            return .leased(
                AddressingStatus.Lease(
                    address: lease.address, prefixLength: lease.prefixLength, server: lease.server,
                    router: lease.routers.first, expires: leaseEnd))
        }
    }
}

extension AssignedAddress {
    fileprivate static func linkLocal(_ address: IPv4Address, isPreferred: Bool) -> AssignedAddress {
        AssignedAddress(
            address: address, prefixLength: 16, broadcast: address.broadcast(prefixLength: 16), scope: .link,
            isPreferred: isPreferred)
    }

    fileprivate static func leased(_ lease: DHCPLease) -> AssignedAddress {
        AssignedAddress(
            address: lease.address, prefixLength: lease.prefixLength, broadcast: lease.broadcast, scope: .global)
    }
}
