internal import ProtocolCore

extension SimulatedLAN {
    func send(_ datagram: Datagram, from host: HostID, on interface: InterfaceID) {
        precondition(interfaces[interface.index].host == host, "the interface belongs to a different host")
        let link = links[interfaces[interface.index].link.index]
        guard link.isUp else { return }
        capture?.add(datagram, sender: interface, at: now)
        for receiver in link.interfaces where receiver != interface && takes(datagram.destination.address, receiver) {
            guard link.joins(host, interfaces[receiver.index].host), !random.chance(link.faults.loss) else { continue }
            let copies = random.chance(link.faults.duplication) ? 2 : 1
            for _ in 0..<copies {
                var delay = random.duration(in: link.faults.delay)
                if random.chance(link.faults.reordering) {
                    delay += random.duration(in: .zero...link.faults.heldBack)
                }
                queue.schedule(.datagram(datagram, from: host, to: receiver), at: now + delay)
            }
        }
    }

    /// Returns true if the interface receives the datagram. Multicast and broadcast reach every other interface of the
    /// link. A host must ignore groups that it has not joined.
    private func takes(_ destination: IPAddress, _ receiver: InterfaceID) -> Bool {
        destination.isMulticast || destination.isBroadcast
            || interfaces[receiver.index].addresses.contains(destination)
    }

    func arrive(_ datagram: Datagram, from sender: HostID, at interface: InterfaceID) {
        let receiver = interfaces[interface.index]
        // Packets in flight are lost when the link breaks.
        guard links[receiver.link.index].joins(sender, receiver.host) else { return }
        deliver(.datagram(datagram, on: interface), to: receiver.host)
    }
}
