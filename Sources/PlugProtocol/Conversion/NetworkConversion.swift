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
