/// A message of DNS Stateful Operations (RFC 8490 §5.4): a header without records, and a list of items. The type of the
/// first item is the operation.
public struct StatefulMessage: Hashable, Sendable {
    /// The identifier, which a response repeats; 0 in a message that has no response.
    public var id: UInt16
    /// True for a response.
    public var isResponse: Bool
    /// The RCODE of a response; 0 means that no error occurred.
    public var code: UInt16
    /// The items in their order. A response may have none.
    public var items: [StatefulItem]

    /// The OPCODE of stateful messages.
    static let operation: UInt16 = 6
    /// The RCODE of a server without stateful operations.
    public static let notImplemented: UInt16 = 4
    /// The RCODE for an operation that the receiver does not know (DSOTYPENI).
    public static let unknownOperation: UInt16 = 11

    /// Creates a message.
    public init(id: UInt16 = 0, isResponse: Bool = false, code: UInt16 = 0, items: [StatefulItem] = []) {
        self.id = id
        self.isResponse = isResponse
        self.code = code
        self.items = items
    }

    /// Decodes a whole message.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = WireReader(bytes)
        self.init(id: try reader.readUInt16())
        let flags = MessageFlags(rawValue: try reader.readUInt16())
        let counts = try reader.readUInt64()
        guard flags.operation == Self.operation, counts == 0 else { throw WireError(offset: 2, reason: .notStateful) }
        isResponse = flags.contains(.response)
        code = flags.responseCode
        while reader.remaining > 0 { items.append(try reader.readItem()) }
    }

    /// Encodes the message in at most 65,535 bytes, or throws if it is longer.
    public func encoded() throws(MessageTooLong) -> [UInt8] {
        var buffer = WireBuffer(limit: Int(UInt16.max), compression: .none)
        buffer.append(id)
        buffer.append((isResponse ? MessageFlags.response.rawValue : 0) | Self.operation << 11 | code & 0xF)
        buffer.append([UInt8](repeating: 0, count: 8))
        for item in items where !buffer.appendIfItFits({ $0.append(item) }) {
            throw MessageTooLong(limit: buffer.limit)
        }
        return buffer.bytes
    }
}

/// One item of a stateful message: a type, a length and data.
public enum StatefulItem: Hashable, Sendable {
    /// The timeouts of a session, in milliseconds (RFC 8490 §7.1): the time after which the client closes a session
    /// without operations, and the longest time without a message. ``forever`` means "without limit".
    case keepalive(inactivity: UInt32, interval: UInt32)
    /// The time in milliseconds after which the client may try again (RFC 8490 §7.2).
    case retryDelay(UInt32)
    /// Zeros that hide the length of an encrypted message (RFC 8490 §7.3).
    case padding(count: Int)
    /// Asks for the records that answer a question, and for their changes (RFC 8765 §6.2).
    case subscribe(Question)
    /// Changes of records (RFC 8765 §6.3).
    case push([RecordChange])
    /// Ends the subscription whose request had this identifier (RFC 8765 §6.4).
    case unsubscribe(UInt16)
    /// An item of another type.
    case other(type: UInt16, [UInt8])

    /// The value of a timeout that never ends.
    public static let forever = UInt32.max
}

/// A change of the records of a zone (RFC 8765 §6.3.1).
public enum RecordChange: Hashable, Sendable {
    case add(Record)
    /// Removes the record with this content. The time to live has no meaning.
    case remove(Record)
    /// Removes all records that answer the question, whose type and class may be "any".
    case removeAll(Question)

    /// The times to live that mark removals. A record with another value above 31 bits is ignored.
    fileprivate enum Mark {
        static let remove: UInt32 = 0xFFFF_FFFF
        static let removeAll: UInt32 = 0xFFFF_FFFE
        static let additions = 0...UInt32(Int32.max)
    }
}

/// The types of items.
private enum ItemType {
    static let keepalive: UInt16 = 1
    static let retryDelay: UInt16 = 2
    static let padding: UInt16 = 3
    static let subscribe: UInt16 = 0x40
    static let push: UInt16 = 0x41
    static let unsubscribe: UInt16 = 0x42
}

extension WireReader {
    fileprivate mutating func readItem() throws(WireError) -> StatefulItem {
        let type = try readUInt16()
        let length = Int(try readUInt16())
        guard length <= remaining else { throw WireError(offset: offset, reason: .truncated(needed: length)) }
        let (start, end) = (offset, offset + length)
        let wrongLength = WireError(offset: start, reason: .itemLength(type: type, actual: length))
        let fixedLength = [ItemType.keepalive: 8, ItemType.retryDelay: 4, ItemType.unsubscribe: 2][type]
        guard fixedLength == nil || fixedLength == length else { throw wrongLength }
        let item: StatefulItem
        switch type {
        case ItemType.keepalive: item = .keepalive(inactivity: try readUInt32(), interval: try readUInt32())
        case ItemType.retryDelay: item = .retryDelay(try readUInt32())
        case ItemType.unsubscribe: item = .unsubscribe(try readUInt16())
        case ItemType.subscribe: item = .subscribe(try readQuestion())
        case ItemType.push:
            guard length > 0 else { throw wrongLength }
            item = .push(try readChanges(until: end))
        case ItemType.padding:
            _ = try readBytes(length)
            item = .padding(count: length)
        default: item = .other(type: type, Array(try readBytes(length)))
        }
        guard offset == end else { throw wrongLength }
        return item
    }

    private mutating func readChanges(until end: Int) throws(WireError) -> [RecordChange] {
        var changes: [RecordChange] = []
        while offset < end {
            let head = try readRecordHead()
            guard head.timeToLive != RecordChange.Mark.removeAll else {
                guard head.length == 0 else {
                    throw WireError(offset: offset, reason: .dataLength(expected: 0, actual: head.length))
                }
                let recordClass = RecordClass(rawValue: head.classBits)
                changes.append(.removeAll(Question(name: head.name, type: head.type, recordClass: recordClass)))
                continue
            }
            var record = try readRecord(head)
            if RecordChange.Mark.additions.contains(head.timeToLive) {
                changes.append(.add(record))
            } else if head.timeToLive == RecordChange.Mark.remove {
                record.timeToLive = 0
                changes.append(.remove(record))
            }
        }
        return changes
    }
}

extension WireBuffer {
    fileprivate mutating func append(_ item: StatefulItem) {
        switch item {
        case .keepalive(let inactivity, let interval):
            append(ItemType.keepalive) {
                $0.append(inactivity); $0.append(interval)
            }
        case .retryDelay(let delay): append(ItemType.retryDelay) { $0.append(delay) }
        case .padding(let count): append(ItemType.padding) { $0.append([UInt8](repeating: 0, count: count)) }
        case .subscribe(let question): append(ItemType.subscribe) { $0.append(question) }
        case .push(let changes): append(ItemType.push) { buffer in changes.forEach { buffer.append($0) } }
        case .unsubscribe(let id): append(ItemType.unsubscribe) { $0.append(id) }
        case .other(let type, let data): append(type) { $0.append(data) }
        }
    }

    /// Appends an item with the data that `write` appends.
    private mutating func append(_ type: UInt16, _ write: (inout WireBuffer) -> Void) {
        append(type)
        appendWithLength(write)
    }

    private mutating func append(_ change: RecordChange) {
        switch change {
        case .add(let record): append(record, timeToLive: record.timeToLive)
        case .remove(let record): append(record, timeToLive: RecordChange.Mark.remove)
        case .removeAll(let question):
            append(question)
            append(RecordChange.Mark.removeAll)
            append(UInt16(0))
        }
    }

    private mutating func append(_ record: Record, timeToLive: UInt32) {
        append(Question(name: record.name, type: record.type, recordClass: record.recordClass))
        append(timeToLive)
        appendWithLength { $0.append(record.data) }
    }
}
