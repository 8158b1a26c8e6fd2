import DNSWire

/// Records that are sent together, and additional records to include if they fit.
struct ResponseUnit {
    let answers: [Record]
    let additionals: [Record]
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
