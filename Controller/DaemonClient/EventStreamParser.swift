/// A message of an event stream.
public struct StreamedEvent: Hashable, Sendable {
    /// The last id that the stream sent, in this or an earlier message. A reader resumes after it.
    public var id: String
    /// The event type; "message" if the stream does not specify one.
    public var kind: String
    /// The content.
    public var data: String

    /// Creates a message from its parts.
    public init(id: String, kind: String, data: String) {
        self.id = id
        self.kind = kind
        self.data = data
    }
}

/// A parser for server-sent events (HTML Standard, section 9.2.6) that accepts bytes in pieces of any size.
public struct EventStreamParser: Sendable {
    /// The maximum size in bytes of an incomplete message, including its current line. A message may contain a whole
    /// house: a thousand plugs of a few hundred bytes each. Prevents a stream without line ends from filling the
    /// memory.
    public static let messageLimit = 4 << 20

    private var line: [UInt8] = []
    private var data: [UInt8] = []
    private var kind = ""
    private var id = ""
    /// True after a carriage return; a following line feed belongs to the same line end.
    private var hadReturn = false
    private var isFirstLine = true

    /// The reconnection delay in milliseconds that the stream specified, or nil.
    public private(set) var retry: Int?

    /// Creates a parser for a new stream.
    public init() {}

    /// Parses bytes and returns the completed messages. An incomplete message at the end of the stream is dropped.
    ///
    /// - Throws: ``DaemonFault/broken(_:)`` if a message exceeds ``messageLimit``. The parser cannot be used
    ///   afterwards.
    public mutating func parse(_ bytes: some Sequence<UInt8>) throws(DaemonFault) -> [StreamedEvent] {
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
                throw .broken("a message in the daemon's stream is longer than \(Self.messageLimit) bytes")
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
        // Comments have an empty name. Unknown fields are ignored.
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
