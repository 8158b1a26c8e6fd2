import DNSWire
import ProtocolCore

/// Resolves simultaneous probes of two hosts for one name (RFC 6762 §8.2).
extension Responder {
    mutating func breakTies(_ inbound: InboundMessage, now: Instant) {
        guard !inbound.message.authorities.isEmpty, let network = attachments[inbound.interface]?.network else {
            return
        }
        for question in inbound.message.questions {
            for id in owners[question.name] ?? [] {
                guard let group = groups[id], group.content.name == question.name,
                    let claim = group.claims[inbound.interface]
                else { continue }
                let theirs = inbound.message.authorities.filter { $0.name == question.name }
                switch claim {
                case .probing, .waiting:
                    guard !theirs.isEmpty, !theirs.allSatisfy({ isOwn($0, of: group.content, now: now) }),
                        Tiebreak.isLost(ours: group.content.unique(on: network), theirs: theirs)
                    else { continue }
                    setClaim(.deferred(until: now + RFC6762.tiebreakWait), of: id, on: inbound.interface)
                case .deferred, .announcing, .announced, .conflicted:
                    continue
                }
            }
        }
    }
}

/// The comparison of proposed records (RFC 6762 §8.2.1).
enum Tiebreak {
    /// Returns true if the other host's records are later in the order of class, type and data, so that this host
    /// loses. Equal sets are not a conflict.
    static func isLost(ours: [Record], theirs: [Record]) -> Bool {
        let (ours, theirs) = (sorted(ours), sorted(theirs))
        for (our, their) in zip(ours, theirs) {
            if our.lexicographicallyPrecedes(their) { return true }
            if their.lexicographicallyPrecedes(our) { return false }
        }
        return ours.count < theirs.count
    }

    /// Returns class without cache-flush bit, type and data as bytes. The fixed-width fields come first, so that a byte
    /// comparison compares field by field.
    private static func sorted(_ records: [Record]) -> [[UInt8]] {
        records.map { record -> [UInt8] in
            let fields = [record.recordClass.rawValue, record.type.rawValue]
            return fields.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + record.data.uncompressedBytes
        }.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
