import DNSWire

/// Packs probes, each question in the same packet as its proposed records.
enum ProbePacker {
    struct Probe {
        let name: Name
        let wantsUnicast: Bool
        let proposed: [Record]
        /// The OPT record of the packet, or nil.
        let option: Record?

        var estimatedLength: Int { name.bytes.count + 4 + proposed.reduce(0) { $0 + $1.estimatedLength } }
    }

    static func pack(_ probes: [Probe]) -> [[UInt8]] {
        parts(of: probes, by: \.option).flatMap { part in
            let limit = PacketSize.usual - (part.first?.option?.estimatedLength ?? 0)
            return chunks(of: part, limit: limit, length: \.estimatedLength).flatMap { encode($0[...]) }
        }
    }

    /// Encodes probes. If the estimate was too low, the packet is halved until it fits; a single probe that exceeds the
    /// largest packet is dropped.
    private static func encode(_ probes: ArraySlice<Probe>) -> [[UInt8]] {
        let message = Message(
            questions: probes.map { Question(name: $0.name, type: .any, wantsUnicast: $0.wantsUnicast) },
            authorities: probes.flatMap { probe in
                probe.proposed.map { record in
                    var record = record
                    // §10.2: the cache-flush bit is valid in responses only.
                    record.isCacheFlush = false
                    return record
                }
            }, additionals: probes.first?.option.map { [$0] } ?? [])
        let limit = probes.count == 1 ? PacketSize.largest : PacketSize.usual
        if let bytes = try? message.encoded(limit: limit) { return [bytes] }
        guard probes.count > 1 else { return [] }
        return encode(probes.prefix(probes.count / 2)) + encode(probes.suffix(probes.count - probes.count / 2))
    }
}

/// Splits a list into parts whose elements have the same value. The parts are in the order of their first elements.
func parts<Element, Value: Equatable>(of elements: [Element], by value: (Element) -> Value) -> [[Element]] {
    var parts: [[Element]] = []
    for element in elements {
        if let index = parts.firstIndex(where: { value($0[0]) == value(element) }) {
            parts[index].append(element)
        } else {
            parts.append([element])
        }
    }
    return parts
}

/// Splits a list into parts whose estimated lengths stay within the limit. An element that exceeds the limit forms its
/// own part.
func chunks<Element>(of elements: [Element], limit: Int, length: (Element) -> Int) -> [[Element]] {
    var chunks: [[Element]] = []
    var used = Int.max
    for element in elements {
        let size = length(element)
        if used > limit - size {
            chunks.append([])
            used = 12
        }
        chunks[chunks.count - 1].append(element)
        used += size
    }
    return chunks
}
