import PlugModel
internal import ProtocolCore

extension WireNetwork {
    init(_ network: PlugNetwork, now: Instant) {
        self.init()
        name = network.name
        managed = network.isManaged
        reason = network.reason
        hardwareAddress = network.hardwareAddress
        addresses = Array(network.addresses.prefix(PlugNetwork.addressLimit))
        linkLocal = network.linkLocal ?? ""
        conflicts = UInt32(clamping: network.conflicts)
        guard let lease = network.lease else { return }
        leaseAddress = lease.address
        leaseServer = lease.server
        leaseRouter = lease.router ?? ""
        if let expires = lease.expires { leaseSeconds = UInt32(clamping: max(0, (expires - now).components.seconds)) }
    }

    /// Decodes an interface.
    ///
    /// - Parameter now: the time on the receiver's clock.
    func model(now: Instant) -> PlugNetwork {
        var lease: PlugNetwork.Lease?
        if !leaseAddress.isEmpty {
            lease = PlugNetwork.Lease(
                address: leaseAddress, server: leaseServer, router: leaseRouter.isEmpty ? nil : leaseRouter,
                expires: hasLeaseSeconds ? now + .seconds(Int64(leaseSeconds)) : nil)
        }
        return PlugNetwork(
            name: name, isManaged: managed, reason: reason, hardwareAddress: hardwareAddress,
            addresses: Array(addresses.prefix(PlugNetwork.addressLimit)),
            linkLocal: linkLocal.isEmpty ? nil : linkLocal, lease: lease, conflicts: Int(conflicts))
    }
}

extension WireDomainRegistration {
    init(_ registration: DomainRegistration) {
        self.init()
        switch registration {
        case .registered(let name, let domain): (self.name, self.domain) = (name, domain)
        case .failed(let domain, let reason, let hint):
            (self.domain, self.reason, self.hint) = (domain, reason, hint ?? "")
        }
    }

    var model: DomainRegistration {
        guard name.isEmpty else { return .registered(name: name, domain: domain) }
        return .failed(domain: domain, reason: reason, hint: hint.isEmpty ? nil : hint)
    }
}

extension WireReachability {
    init(_ reachability: Reachability) {
        self.init()
        switch reachability {
        case .mapped(let address, let port, let isPublic):
            (self.address, self.port, publicAddress) = (address, UInt32(port), isPublic)
        case .unmapped(let reason, let hint): (self.reason, self.hint) = (reason, hint ?? "")
        }
    }

    func model() throws(MessageFault) -> Reachability {
        guard !address.isEmpty else { return .unmapped(reason: reason, hint: hint.isEmpty ? nil : hint) }
        guard let port = UInt16(exactly: self.port), port > 0 else {
            throw .outOfRange(field: "port", value: Int64(self.port), allowed: 1...Int64(UInt16.max))
        }
        return .mapped(address: address, port: port, isPublic: publicAddress)
    }
}
