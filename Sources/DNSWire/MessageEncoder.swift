/// Builds a message piece by piece within a size limit. A piece that does not fit is rejected and leaves the message
/// unchanged. Questions and records must be appended in the order of the sections.
public struct MessageEncoder {
    /// The sections of records, in their order on the wire.
    public enum Section: Int, Sendable {
        case answer, authority, additional
    }

    private var buffer: WireBuffer
    private var counts: (question: UInt16, records: [UInt16]) = (0, [0, 0, 0])
    private static let headerLength = 12

    /// Creates an empty message of at most `limit` bytes.
    public init(limit: Int, compression: NameCompression = .multicast) {
        buffer = WireBuffer(limit: limit, compression: compression)
        for _ in 0..<(Self.headerLength / 2) { buffer.append(UInt16(0)) }
    }

    /// The length so far, the header included, in bytes.
    public var count: Int { buffer.bytes.count }

    /// Appends a question. Returns false if it does not fit.
    public mutating func append(_ question: Question) -> Bool {
        precondition(counts.records == [0, 0, 0], "questions come before records")
        let fits = buffer.appendIfItFits { $0.append(question) }
        if fits { counts.question += 1 }
        return fits
    }

    /// Appends a record. Returns false if it does not fit.
    public mutating func append(_ record: Record, to section: Section) -> Bool {
        precondition(counts.records[(section.rawValue + 1)...].allSatisfy { $0 == 0 }, "sections come in order")
        let fits = buffer.appendIfItFits { buffer in
            buffer.append(record.name)
            buffer.append(record.type.rawValue)
            buffer.append(record.recordClass.rawValue | (record.isCacheFlush ? 0x8000 : 0))
            buffer.append(record.timeToLive)
            buffer.appendWithLength { $0.append(record.data) }
        }
        if fits { counts.records[section.rawValue] += 1 }
        return fits
    }

    /// Returns the finished message.
    public func finish(id: UInt16 = 0, flags: MessageFlags) -> [UInt8] {
        var buffer = buffer
        for (index, value) in ([id, flags.rawValue, counts.question] + counts.records).enumerated() {
            buffer.overwrite(value, at: 2 * index)
        }
        return buffer.bytes
    }
}

/// The error for a message that exceeds its size limit.
public struct MessageTooLong: Error, Hashable, Sendable {
    /// The limit in bytes.
    public let limit: Int
}

extension Message {
    /// Encodes the message in at most `limit` bytes, or throws if it is longer. The default is the limit of DNS over
    /// TCP (RFC 1035 §4.2.2).
    public func encoded(
        limit: Int = Int(UInt16.max), compression: NameCompression = .multicast
    ) throws(MessageTooLong) -> [UInt8] {
        var encoder = MessageEncoder(limit: limit, compression: compression)
        for question in questions where !encoder.append(question) { throw MessageTooLong(limit: limit) }
        let sections: [(MessageEncoder.Section, [Record])] = [
            (.answer, answers), (.authority, authorities), (.additional, additionals),
        ]
        for (section, records) in sections {
            for record in records where !encoder.append(record, to: section) { throw MessageTooLong(limit: limit) }
        }
        return encoder.finish(id: id, flags: flags)
    }
}
