import DNSWire

/// Sends goodbye packets (RFC 6762 §10.1).
extension Responder {
    /// Sends goodbyes on the interfaces on which this host owns the name. If another host owns it, a goodbye would
    /// remove that host's records.
    func sayGoodbye(_ ids: [GroupID], _ actions: inout [Action]) {
        for interface in orderedInterfaces {
            guard let network = attachments[interface]?.network else { continue }
            let records = ids.filter { isClaimed($0, on: interface) }.flatMap { id -> [Record] in
                groups[id].map { $0.content.unique(on: network) + $0.content.shared } ?? []
            }
            if !records.isEmpty { sendGoodbyes(records, on: interface, &actions) }
        }
    }

    func sendGoodbyes(_ records: [Record], on interface: InterfaceID, _ actions: inout [Action]) {
        guard let network = attachments[interface]?.network else { return }
        let units = records.map { record -> ResponseUnit in
            var record = record
            record.timeToLive = 0
            return ResponseUnit(answers: [record], additionals: [])
        }
        multicast(ResponsePacker.pack(units), on: network, &actions)
    }
}
