import DNSWire

/// Records that are sent together, and additional records to include if they fit.
struct ResponseUnit {
    let answers: [Record]
    let additionals: [Record]
    /// The OPT record of the packet, or nil. Units with different OPT records are in different packets, because a
    /// packet has at most one (RFC 6891 §6.1.1).
    var option: Record?
}

/// Puts responses into packets (RFC 6762 §6, §17, §18).
enum ResponsePacker {
    /// Packs units into authoritative packets (RFC 6762 §18.4) with id zero (RFC 6762 §18.1), no questions (RFC 6762
    /// §6) and no duplicate records per packet.
    static func pack(_ units: [ResponseUnit]) -> [[UInt8]] {
        parts(of: units, by: \.option).flatMap { part in
            let option = part.first?.option
            var seen: Set<Record> = []
            return chunks(of: part, limit: PacketSize.usual - (option?.estimatedLength ?? 0)) { unit in
                // A packet contains records that several units share, such as the host's addresses, only once.
                (unit.answers + unit.additionals).filter { seen.insert($0).inserted }
                    .reduce(0) { $0 + $1.estimatedLength }
            }.flatMap { encode($0[...], option) }
        }
    }

    /// Encodes the answers. If the estimate was too low, the units are halved; a single unit that exceeds the largest
    /// packet is dropped. Additionals may be omitted.
    private static func encode(_ units: ArraySlice<ResponseUnit>, _ option: Record?) -> [[UInt8]] {
        let limit = units.count == 1 ? PacketSize.largest : PacketSize.usual
        var encoder = MessageEncoder(limit: limit)
        var seen: Set<Record> = []
        let answers = units.flatMap(\.answers).filter { seen.insert($0).inserted }
        guard answers.allSatisfy({ encoder.append($0, to: .answer) }),
            option.map({ encoder.append($0, to: .additional) }) ?? true
        else {
            guard units.count > 1 else { return [] }
            let half = units.count / 2
            return encode(units.prefix(half), option) + encode(units.suffix(units.count - half), option)
        }
        for record in units.flatMap(\.additionals) where seen.insert(record).inserted {
            guard encoder.count + record.estimatedLength <= PacketSize.usual else { continue }
            _ = encoder.append(record, to: .additional)
        }
        return [encoder.finish(flags: [.response, .authoritative])]
    }
}
