import DNSWire
import ProtocolCore

/// Packs queries with their known answers (RFC 6762 §5.3, §7.1, §7.2).
enum QueryPacker {
    /// The limit of packets with known answers per query. It prevents a flood of records under one name from turning
    /// each query into a flood.
    private static let knownAnswerPacketLimit = 32

    static func packets(asking keys: [QuestionKey], knowing cache: RecordCache, now: Instant) -> [[UInt8]] {
        chunks(of: keys, limit: PacketSize.usual, length: { $0.name.bytes.count + 4 }).flatMap { keys in
            pack(
                keys.map { Question(name: $0.name, type: $0.type) },
                known: keys.flatMap { cache.knownAnswers($0, now: now) })
        }
    }

    /// Packs questions and known answers. Known answers that do not fit continue in packets without questions,
    /// announced by the TC bit.
    private static func pack(_ questions: [Question], known: [Record]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var encoder = MessageEncoder(limit: PacketSize.usual)
        for question in questions where !encoder.append(question) { preconditionFailure("too many questions") }
        var hasAnswers = false
        for record in known {
            if encoder.append(record, to: .answer) {
                hasAnswers = true
                continue
            }
            // A record longer than a packet is omitted, as are all records beyond the limit of packets. Their owners
            // answer again.
            guard hasAnswers || packets.isEmpty, packets.count + 1 < knownAnswerPacketLimit else { continue }
            packets.append(encoder.finish(flags: .truncated))
            encoder = MessageEncoder(limit: PacketSize.usual)
            hasAnswers = encoder.append(record, to: .answer)
        }
        packets.append(encoder.finish(flags: []))
        return packets
    }
}
