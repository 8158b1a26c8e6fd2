extension Message {
    /// Decodes a whole message. Ignores bytes after the last record, and keeps the data of record types without a case
    /// in ``RecordData`` as bytes.
    ///
    /// - Parameter expandsNames: true to write the names of CNAME and SOA records in full, as ``Record/alias`` and
    ///   ``Record/primaryServer`` require. A compressed name has no meaning outside of its message. With false, their data is kept as bytes too, so that a
    ///   damaged record of a type that the caller does not use does not invalidate the message.
    public init(decoding bytes: [UInt8], expandsNames: Bool = false) throws(WireError) {
        var reader = WireReader(bytes)
        reader.expandsNames = expandsNames
        self.init(id: try reader.readUInt16(), flags: MessageFlags(rawValue: try reader.readUInt16()))
        let questionCount = Int(try reader.readUInt16())
        let answerCount = Int(try reader.readUInt16())
        let authorityCount = Int(try reader.readUInt16())
        let additionalCount = Int(try reader.readUInt16())
        // The peer chose these counts, so the decoder reserves only the space that the received bytes can fill.
        questions.reserveCapacity(min(questionCount, reader.remaining / Question.shortest))
        for _ in 0..<questionCount { questions.append(try reader.readQuestion()) }
        answers = try reader.readRecords(answerCount)
        authorities = try reader.readRecords(authorityCount)
        additionals = try reader.readRecords(additionalCount)
    }
}

extension Question {
    /// The shortest question in bytes: the root name, a type and a class.
    fileprivate static let shortest = 5
}

extension Record {
    /// The shortest record in bytes: the root name, type, class, time to live and an empty length.
    fileprivate static let shortest = 11
}

extension WireReader {
    mutating func readQuestion() throws(WireError) -> Question {
        let name = try readName()
        let type = RecordType(rawValue: try readUInt16())
        let classBits = try readUInt16()
        return Question(
            name: name, type: type, recordClass: RecordClass(rawValue: classBits), wantsUnicast: classBits & 0x8000 != 0
        )
    }

    fileprivate mutating func readRecords(_ count: Int) throws(WireError) -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(min(count, remaining / Record.shortest))
        for _ in 0..<count { records.append(try readRecord()) }
        return records
    }

    fileprivate mutating func readRecord() throws(WireError) -> Record { try readRecord(readRecordHead()) }
}

/// The fields of a record before its data.
struct RecordHead {
    let name: Name
    let type: RecordType
    /// The class with the cache-flush bit.
    let classBits: UInt16
    let timeToLive: UInt32
    let length: Int
}

extension WireReader {
    mutating func readRecordHead() throws(WireError) -> RecordHead {
        let head = RecordHead(
            name: try readName(), type: RecordType(rawValue: try readUInt16()), classBits: try readUInt16(),
            timeToLive: try readUInt32(), length: Int(try readUInt16()))
        guard head.length <= remaining else {
            throw WireError(offset: offset, reason: .truncated(needed: head.length))
        }
        return head
    }

    /// Reads the data of a record.
    mutating func readRecord(_ head: RecordHead) throws(WireError) -> Record {
        let (start, end) = (offset, offset + head.length)
        let data = try readData(head.type, length: head.length)
        guard offset == end else {
            throw WireError(offset: start, reason: .dataLength(expected: offset - start, actual: head.length))
        }
        return Record(
            name: head.name, recordClass: RecordClass(rawValue: head.classBits),
            isCacheFlush: head.classBits & 0x8000 != 0, timeToLive: head.timeToLive, data: data)
    }

    private mutating func readData(_ type: RecordType, length: Int) throws(WireError) -> RecordData {
        switch type {
        case .a:
            return .a(IPv4Address(rawValue: try readUInt32()))
        case .aaaa:
            return .aaaa(IPv6Address(high: try readUInt64(), low: try readUInt64()))
        case .ptr:
            return .ptr(try readName())
        case .srv:
            return .srv(
                priority: try readUInt16(), weight: try readUInt16(), port: try readUInt16(), target: try readName())
        case .cname where expandsNames: return .other(.cname, try readName().bytes)
        case .soa where expandsNames:
            // The primary server, the mailbox of the administrator, and five numbers.
            return .other(.soa, try readName().bytes + (try readName().bytes) + Array(try readBytes(20)))
        case .txt:
            return .txt(Array(try readBytes(length)))
        case .nsec:
            let end = offset + length
            let next = try readName()
            return .nsec(next: next, types: try readTypeBitmap(until: end))
        default:
            return .other(type, Array(try readBytes(length)))
        }
    }

    /// Reads a type bitmap (RFC 4034 §4.1.2): blocks of a window number, a length of 1 to 32, and that many bytes of
    /// bits.
    private mutating func readTypeBitmap(until end: Int) throws(WireError) -> [RecordType] {
        var types: [RecordType] = []
        var lastWindow = -1
        while offset < end {
            let blockStart = offset
            let header = try readUInt16()
            let (window, length) = (Int(header >> 8), Int(header & 0xFF))
            guard window > lastWindow, (1...32).contains(length), offset + length <= end else {
                throw WireError(offset: blockStart, reason: .typeBitmap)
            }
            for (index, byte) in try readBytes(length).enumerated() where byte != 0 {
                for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                    types.append(RecordType(rawValue: UInt16(window << 8 | index << 3 | bit)))
                }
            }
            lastWindow = window
        }
        return types
    }
}
