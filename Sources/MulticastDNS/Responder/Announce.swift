import DNSWire
import ProtocolCore

/// Announces records (RFC 6762 §8.3).
extension Responder {
    /// Announces the groups' records on every family of the interface, except records that were multicast on the family
    /// within the last second (§6).
    mutating func announce(_ ids: [GroupID], on interface: InterfaceID, now: Instant, _ actions: inout [Action]) {
        guard let network = attachments[interface]?.network else { return }
        let answers = ids.map { id in
            groups[id]?.content.announcedSlots(on: network).map { Answer(group: id, slot: $0) } ?? []
        }
        var packed: (due: [[Answer]], packets: [[UInt8]]) = ([], [])
        for family in network.orderedFamilies {
            guard let queue = attachments[interface]?.queues[family] else { continue }
            let due = answers.map { group in group.filter { queue.mayMulticast($0, now: now) } }
            // Both families usually get the same records.
            if due != packed.due { packed = (due, ResponsePacker.pack(due.compactMap { unit($0, on: network) })) }
            for bytes in packed.packets {
                actions.append(
                    .send(OutboundDatagram(bytes: bytes, interface: interface, destination: .multicast(family))))
            }
            attachments[interface]?.changeGroupQueue(of: family) { $0.noteMulticast(due.joined(), now: now) }
        }
    }

    /// Returns one group's due records, with the negative answer for all other types of its name. Returns nil without
    /// due answers.
    private func unit(_ answers: [Answer], on network: NetworkInterface) -> ResponseUnit? {
        guard let content = answers.first.flatMap({ groups[$0.group]?.content }) else { return nil }
        return ResponseUnit(
            answers: answers.flatMap { content.records($0.slot, on: network) },
            additionals: [content.negative(on: network)])
    }
}

/// Records that are sent together, and additional records to include if they fit.
struct ResponseUnit {
    var answers: [Record]
    var additionals: [Record]
}

/// Puts responses into packets (RFC 6762 §6, §17, §18).
enum ResponsePacker {
    /// Packs units into authoritative packets (§18.4) with id zero (§18.1), no questions (§6) and no duplicate records
    /// per packet.
    static func pack(_ units: [ResponseUnit]) -> [[UInt8]] {
        var seen: Set<Record> = []
        return chunks(of: units, limit: PacketSize.usual) { unit in
            // A packet contains records that several units share, such as the host's addresses, only once.
            (unit.answers + unit.additionals).filter { seen.insert($0).inserted }.reduce(0) { $0 + $1.estimatedLength }
        }.flatMap { encode($0[...]) }
    }

    /// Encodes the answers. If the estimate was too low, the units are halved; a single unit that exceeds the largest
    /// packet is dropped. Additionals may be omitted.
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
