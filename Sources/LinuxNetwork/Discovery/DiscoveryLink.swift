import DNSWire
import LinuxSystem
import MulticastDNS
import NIOCore
import ServiceDiscovery

/// An interface in use, with its sockets.
struct DiscoveryLink {
    var network: NetworkInterface
    var carrierChanges: UInt32
    var sockets: [IPFamily: MulticastSocket]
    var membership = Membership()
}

extension NetworkInterface {
    /// Converts an interface. Returns nil if multicast DNS cannot use it: it has no link, or no address to send from.
    init?(_ interface: LinuxInterface) {
        guard interface.isOperational else { return nil }
        let usable = interface.addresses.filter(\.isUsable).compactMap { described in
            IPAddress(bytes: described.bytes).map {
                InterfaceAddress($0, prefixLength: described.prefixLength, isDeprecated: described.isDeprecated)
            }
        }
        // IPv6 multicast uses the link-local address as its source. Loopback has no such address, and no IPv6 multicast
        // route.
        let families = Set(usable.map(\.address).filter { $0.family == .v4 || $0.isLinkLocal }.map(\.family))
        guard !families.isEmpty else { return nil }
        self.init(
            id: UInt32(bitPattern: interface.index), name: interface.name, addresses: usable, families: families)
    }
}

extension Discovery {
    /// Handles a new list of interfaces: opens and closes sockets, and notifies the machine.
    func update(_ list: [LinuxInterface]) {
        guard !isStopped else { return }
        let usable = list.compactMap { interface in
            NetworkInterface(interface).map { ($0, carrierChanges: interface.carrierChanges) }
        }
        for id in links.keys.sorted() where !usable.contains(where: { $0.0.id == id }) { detach(id) }
        for (network, carrierChanges) in usable {
            // After a link was lost and restored, it may lead to a different network, on which other hosts may use the
            // names of this host.
            if let link = links[network.id], link.carrierChanges != carrierChanges { detach(network.id) }
            attach(network, carrierChanges)
        }
        domains?.refresh(networks: networkNames)
        if links.isEmpty, !saidWaiting {
            saidWaiting = true
            logger.warning(
                "no usable network interface yet; waiting for one",
                metadata: [
                    "interfaces": "\(interfaces)", "hint": "connect a cable or join a wireless network",
                ])
        }
    }

    private func attach(_ network: NetworkInterface, _ carrierChanges: UInt32) {
        var link = links[network.id] ?? DiscoveryLink(network: network, carrierChanges: carrierChanges, sockets: [:])
        let isNew = links[network.id] == nil
        guard isNew || link.network != network else { return }
        // Interfaces of containers and virtual machines appear and disappear often, so this is a debug message.
        if isNew { logger.debug("using a network interface", metadata: ["interface": "\(network.name)"]) }
        link.network = network
        for family in IPFamily.allCases {
            if network.families.contains(family) {
                guard link.sockets[family] == nil else { continue }
                let socket = open(network, family)
                link.sockets[family] = socket
                // Loopback has no other hosts that could prove the membership.
                if !socket.identity.isLoopback { link.membership.note(family, now: BootClock.now) }
            } else if let socket = link.sockets.removeValue(forKey: family) {
                link.membership.forget(family)
                close(socket)
            }
        }
        links[network.id] = link
        handle(.interfaceChanged(network))
    }

    private func detach(_ id: InterfaceID) {
        guard let link = links.removeValue(forKey: id) else { return }
        logger.debug("a network interface was removed", metadata: ["interface": "\(link.network.name)"])
        close(link)
        handle(.interfaceRemoved(id))
    }

    private func open(_ network: NetworkInterface, _ family: IPFamily) -> MulticastSocket {
        let identity = MulticastSocket.Identity(
            interface: network.id, interfaceName: network.name, family: family,
            isLoopback: network.addresses.contains { $0.address.isLoopback })
        return MulticastSocket(identity, on: eventLoop, logger: logger) { datagram in
            self.assumeIsolated { $0.received(datagram) }
        }
    }

    func close(_ link: DiscoveryLink) {
        for socket in link.sockets.values { close(socket) }
    }

    private func close(_ socket: MulticastSocket) {
        formerSockets += socket.counters
        socket.close()
    }

    /// Sends a datagram. The future succeeds when the kernel has accepted or refused the datagram, or when it was
    /// dropped.
    func send(_ datagram: OutboundDatagram) -> EventLoopFuture<Void> {
        let family =
            switch datagram.destination {
            case .multicast(let family): family
            case .unicast(let address, _): address.family
            }
        let written = eventLoop.makePromise(of: Void.self)
        if let socket = links[datagram.interface]?.sockets[family] {
            socket.send(datagram.bytes, to: datagram.destination, written: written)
        } else {
            formerSockets.sendsDropped += 1
            written.succeed()
        }
        return written.futureResult
    }

    private func received(_ datagram: ReceivedDatagram) {
        guard let interface = interface(of: datagram) else {
            strayCount += 1
            return
        }
        noteHeard(datagram, on: interface)
        handle(
            .received(
                InboundDatagram(
                    bytes: datagram.bytes, interface: interface, source: datagram.source,
                    sourcePort: datagram.sourcePort, wasMulticast: datagram.destination.isMulticast)))
    }

    /// Records the proof of a membership: a datagram that another host sent to the group.
    private func noteHeard(_ datagram: ReceivedDatagram, on interface: InterfaceID) {
        guard let network = links[interface]?.network, datagram.destination.isMulticast,
            !network.addresses.contains(where: { $0.address == datagram.source || $0.address.isLoopback })
        else { return }
        links[interface]?.membership.note(datagram.source.family, now: BootClock.now)
    }

    /// Returns the interface of a datagram. The kernel delivers a unicast packet to any of the sockets on the port, so
    /// the packet's interface counts, not the socket's. A packet of this host to its own address arrives on loopback,
    /// and belongs to the interface that has the address. Returns nil if that interface is not in use.
    private func interface(of datagram: ReceivedDatagram) -> InterfaceID? {
        if links[datagram.interface] != nil { return datagram.interface }
        return links.values.first { $0.network.addresses.contains { $0.address == datagram.destination } }?.network.id
    }
}
