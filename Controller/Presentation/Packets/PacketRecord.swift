import DNSWire
public import LinuxNetwork
public import MulticastDNS

/// One line of `plugctl browse --packets --json`: a multicast DNS packet.
public struct PacketRecord: Encodable, Equatable, Sendable {
    /// The kind of a packet.
    public enum Kind: String, Encodable, Sendable {
        case query
        /// A query that proposes records for a name (RFC 6762 §8.1).
        case probe
        case response
        /// The packet is not a DNS message; see ``fault``.
        case malformed
    }

    /// A question in a packet.
    public struct Question: Encodable, Equatable, Sendable {
        /// The name in the question.
        public var name: String
        /// The registered name of its type, or `TYPE123` (RFC 3597 section 5).
        public var type: String
        /// True if the question requests a unicast answer (QU, RFC 6762 §5.4).
        public var unicast: Bool
    }

    /// The reason why a packet is not a DNS message.
    public struct Fault: Encodable, Equatable, Sendable {
        /// The offset in bytes from the start of the message.
        public var offset: Int
        /// The error in words.
        public var reason: String
    }

    /// The time of reception in ISO 8601.
    public var at: String
    /// The name of the interface.
    public var interface: String
    /// The address of the sender.
    public var from: String
    /// The sender's port. Resolvers that support only unicast DNS use a port other than 5353.
    public var port: UInt16
    /// The destination address.
    public var to: String
    /// The size of the DNS message in bytes.
    public var bytes: Int
    /// The kind of the packet.
    public var kind: Kind
    /// True if more known answers follow in another packet.
    public var truncated: Bool
    /// The questions, at most 128.
    public var questions: [Question]
    /// The records of all sections, at most 128.
    public var records: [PacketEntry]
    /// The number of questions and records that are not included; omitted if all are.
    public var more: Int?
    /// The fault of a malformed packet; nil otherwise.
    public var fault: Fault?

    /// The limit of questions, and of records, per packet. A packet of 9000 bytes can contain more than 700 questions
    /// or records, each with a name of 255 bytes.
    static let limit = 128

    /// Creates the record of a received packet.
    ///
    /// - Parameter interfaceName: returns the name of an interface; nil if it has none.
    public init(_ packet: HeardPacket, interfaceName: (InterfaceID) -> String?) {
        at = packet.time.iso8601()
        interface = interfaceName(packet.interface) ?? "\(packet.interface)"
        from = "\(packet.source.address)"
        port = packet.source.port
        to = "\(packet.destination)"
        bytes = packet.bytes.count
        (truncated, questions, records) = (false, [], [])
        do throws(WireError) {
            let message = try Message(decoding: packet.bytes)
            kind = message.kind
            truncated = message.flags.contains(.truncated)
            questions = message.questions.prefix(Self.limit).map {
                Question(name: "\($0.name)", type: $0.type.words, unicast: $0.wantsUnicast)
            }
            records = message.entries(limit: Self.limit)
            let all = [message.answers, message.authorities, message.additionals].reduce(message.questions.count) {
                $0 + $1.count
            }
            let left = all - questions.count - records.count
            more = left > 0 ? left : nil
        } catch {
            kind = .malformed
            fault = Fault(offset: error.offset, reason: error.reason.words)
        }
    }
}

extension Message {
    fileprivate var kind: PacketRecord.Kind {
        guard !flags.contains(.response) else { return .response }
        return authorities.isEmpty ? .query : .probe
    }

    fileprivate func entries(limit: Int) -> [PacketEntry] {
        let isQuery = !flags.contains(.response)
        let sections: [(PacketEntry.Section, [Record])] = [
            (isQuery ? .known : .answer, answers), (isQuery ? .proposed : .authority, authorities),
            (.additional, additionals),
        ]
        return Array(sections.flatMap { section, records in records.map { PacketEntry(section, $0) } }.prefix(limit))
    }
}

extension WireError.Reason {
    /// Text for the user.
    var words: String {
        switch self {
        case .truncated(let needed): "the packet ends before a field of \(needed) bytes"
        case .reservedLabel(let byte): "a label begins with the reserved byte \(byte)"
        case .pointerNotBackwards(let target): "a compressed name points forward to byte \(target)"
        case .overlappingName: "a compressed name overlaps itself"
        case .tooManyPointers: "a compressed name has too many pointers"
        case .nameTooLong: "a name is longer than 255 bytes"
        case .dataLength(let expected, let actual):
            "the data of a record has \(actual) bytes, but its content needs \(expected)"
        case .typeBitmap: "the list of types in an NSEC record is malformed"
        case .optionLength(let code, let actual):
            "the data of EDNS option \(code) has \(actual) bytes, which its format does not permit"
        case .notStateful: "the message is not one of DNS Stateful Operations"
        case .itemLength(let type, let actual):
            "the data of item \(type) has \(actual) bytes, which its type does not permit"
        }
    }
}
