import DNSWire
import ProtocolCore

/// Announcing (RFC 6762 §8.3).
extension Responder {
    /// All records of the groups, on every family of the interface.
    mutating func announce(_ ids: [GroupID], on interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let network = attachments[interface]?.network else { return }
        let units = ids.compactMap { id in
            groups[id].map {
                ResponseUnit(
                    answers: $0.content.unique(on: network) + $0.content.shared,
                    additionals: [$0.content.negative(on: network)])
            }
        }
        multicast(ResponsePacker.pack(units), on: network, &actions)
        for id in ids {
            guard let content = groups[id]?.content else { continue }
            let slots =
                Set(content.unique(on: network).map(\.type)).map { Answer.Slot.unique($0) }
                + content.shared.indices.map { .shared($0) }
            for slot in slots {
                for family in network.orderedFamilies {
                    attachments[interface]?.queues[family]?.noteMulticast(Answer(group: id, slot: slot), now: now)
                }
            }
        }
    }
}

/// Records that go out together, and what is worth adding where there is room.
struct ResponseUnit {
    var answers: [Record]
    var additionals: [Record]
}

/// Puts responses into packets (RFC 6762 §6, §17, §18).
enum ResponsePacker {
    /// Authoritative (§18.4), id zero (§18.1), no questions (§6), no record twice in a packet.
    static func pack(_ units: [ResponseUnit]) -> [[UInt8]] {
        var seen: Set<Record> = []
        return chunks(of: units, limit: PacketSize.usual) { unit in
            // What several units share, such as the host's addresses, stands in the packet once.
            (unit.answers + unit.additionals).filter { seen.insert($0).inserted }.reduce(0) { $0 + $1.estimatedLength }
        }.flatMap { encode($0[...]) }
    }

    /// Answers must go out: where the estimate was wrong the units are halved. Additionals may be left out.
    private static func encode(_ units: ArraySlice<ResponseUnit>) -> [[UInt8]] {
        let limit = units.count == 1 ? PacketSize.largest : PacketSize.usual
        var encoder = MessageEncoder(limit: limit)
        var seen: Set<Record> = []
        for record in units.flatMap(\.answers) where seen.insert(record).inserted {
            if encoder.append(record, to: .answer) { continue }
            guard units.count > 1 else { return [] }
            let half = units.count / 2
            return encode(units.prefix(half)) + encode(units.suffix(units.count - half))
        }
        for record in units.flatMap(\.additionals) where seen.insert(record).inserted {
            guard encoder.count + record.estimatedLength <= PacketSize.usual else { continue }
            _ = encoder.append(record, to: .additional)
        }
        return [encoder.finish(flags: [.response, .authoritative])]
    }
}
