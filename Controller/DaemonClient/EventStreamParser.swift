/// One message of a stream of events.
public struct StreamedEvent: Hashable, Sendable {
    /// The newest id that the stream told, here or before; what a reader resumes after.
    public var id: String
    /// What it is; "message" where the stream does not say.
    public var kind: String
    public var data: String

    public init(id: String, kind: String, data: String) {
        self.id = id
        self.kind = kind
        self.data = data
    }
}

/// Reads server-sent events (HTML Standard, section 9.2.6) out of bytes in pieces of any size.
public struct EventStreamParser: Sendable {
    /// Bytes of one message, and so of a line. A whole house is one message: a thousand plugs of a few hundred bytes. Stops a
    /// stream without line ends from filling the memory.
    public static let messageLimit = 4 << 20

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var kind = ""
    private var id = ""
    /// A line feed that follows is the same line's end.
    private var hadReturn = false
    private var isFirstLine = true

    /// How long to wait before connecting anew, where the stream said so: milliseconds.
    public private(set) var retry: Int?

    public init() {}

    /// The messages that became whole with these bytes. One that is not whole at the stream's end is none.
    ///
    /// - Throws: ``DaemonFault/broken(_:)`` for a message beyond ``messageLimit``; the parser is of no use then.
    public mutating func take(_ bytes: some Sequence<UInt8>) throws(DaemonFault) -> [StreamedEvent] {
        var events: [StreamedEvent] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where hadReturn: hadReturn = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                hadReturn = byte == UInt8(ascii: "\r")
                if let event = endLine() { events.append(event) }
            default:
                hadReturn = false
                line.append(byte)
            }
            guard line.count + data.count <= Self.messageLimit else {
                throw .broken("a message of its stream is longer than \(Self.messageLimit) bytes")
            }
        }
        return events
    }

    private mutating func endLine() -> StreamedEvent? {
        var ended = line[...]
        if isFirstLine, ended.starts(with: [0xEF, 0xBB, 0xBF]) { ended = ended.dropFirst(3) }
        isFirstLine = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !ended.isEmpty else { return endMessage() }
        let name = ended.prefix { $0 != UInt8(ascii: ":") }
        var value = ended.dropFirst(name.count + 1)
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            data += value
            data.append(UInt8(ascii: "\n"))
        case "event": kind = text
        case "id" where !value.contains(0): id = text
        case "retry":
            if value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) { retry = Int(text) ?? retry }
        // A comment has no name; a field that nobody knows is of another time.
        default: break
        }
        return nil
    }

    private mutating func endMessage() -> StreamedEvent? {
        defer {
            data.removeAll(keepingCapacity: true)
            kind = ""
        }
        guard !data.isEmpty else { return nil }
        return StreamedEvent(
            id: id, kind: kind.isEmpty ? "message" : kind, data: String(decoding: data.dropLast(), as: UTF8.self))
    }
}
