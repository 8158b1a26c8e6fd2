import DNSWire

/// Sends probes (RFC 6762 §8.1) and goodbyes (§10.1).
extension Responder {
    /// Sends probes. §8.1 recommends unicast answers ("QU"), which are sent without delay. But if the host has a second
    /// responder, the kernel may deliver unicast packets for port 5353 to that responder's socket, and an objection of
    /// the name's owner would be lost. Only the first probe therefore requests unicast, and the owner objects to the
    /// second and third by multicast. If a second responder is known, the first probe requests multicast too: Avahi
    /// stays silent for half a second after each answer, even after a unicast answer that was lost.
    func sendProbes(
        _ due: [(id: GroupID, isFirst: Bool)], on interface: InterfaceID, _ actions: inout [Action]
    ) {
        guard let network = networks[interface] else { return }
        let probes = due.compactMap { id, isFirst in
            claims.content(of: id).map { content in
                ProbePacker.Probe(
                    name: content.name, wantsUnicast: isFirst && !sharesPort, proposed: content.unique(on: network),
                    option: content.option)
            }
        }
        multicast(ProbePacker.pack(probes), on: network, &actions)
    }

    /// Sends goodbyes on the interfaces on which this host owns the name. If another host owns it, a goodbye would
    /// remove that host's records.
    func sayGoodbye(_ ids: [GroupID], _ actions: inout [Action]) {
        for interface in networks.ids {
            guard let network = networks[interface] else { continue }
            let records = ids.filter { claims.isClaimed($0, on: interface) }.flatMap { id -> [Record] in
                claims.content(of: id).map { $0.unique(on: network) + $0.shared } ?? []
            }
            if !records.isEmpty { sendGoodbyes(records, on: interface, &actions) }
        }
    }

    func sendGoodbyes(_ records: [Record], on interface: InterfaceID, _ actions: inout [Action]) {
        guard let network = networks[interface] else { return }
        let units = records.map { record -> ResponseUnit in
            var record = record
            record.timeToLive = 0
            return ResponseUnit(answers: [record], additionals: [])
        }
        multicast(ResponsePacker.pack(units), on: network, &actions)
    }

    private func multicast(_ packets: [[UInt8]], on network: NetworkInterface, _ actions: inout [Action]) {
        for family in network.orderedFamilies { send(packets, to: .multicast(family), on: network.id, &actions) }
    }

    func send(
        _ packets: [[UInt8]], to destination: OutboundDatagram.Destination, on interface: InterfaceID,
        _ actions: inout [Action]
    ) {
        actions += packets.map { .send(OutboundDatagram(bytes: $0, interface: interface, destination: destination)) }
    }
}
