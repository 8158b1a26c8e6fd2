/// A DNS message (RFC 1035 §4).
public struct Message: Hashable, Sendable {
    /// The identifier. A unicast response has the identifier of its query; multicast messages have 0 (RFC 6762 §18.1).
    public var id: UInt16
    /// The flags of the header.
    public var flags: MessageFlags
    /// The question section.
    public var questions: [Question]
    /// The answer section. In a query, it contains the known answers (RFC 6762 §7.1).
    public var answers: [Record]
    /// The authority section. In a probe, it contains the proposed records (RFC 6762 §8.2).
    public var authorities: [Record]
    /// The additional section.
    public var additionals: [Record]

    /// Creates a message.
    public init(
        id: UInt16 = 0, flags: MessageFlags = [], questions: [Question] = [], answers: [Record] = [],
        authorities: [Record] = [], additionals: [Record] = []
    ) {
        self.id = id
        self.flags = flags
        self.questions = questions
        self.answers = answers
        self.authorities = authorities
        self.additionals = additionals
    }
}

/// The second 16 bits of the header in their wire format (RFC 1035 §4.1.1).
public struct MessageFlags: OptionSet, Hashable, Sendable {
    /// The 16 bits.
    public let rawValue: UInt16
    /// Creates flags from the 16 bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// QR: set in a response, clear in a query.
    public static let response = MessageFlags(rawValue: 0x8000)
    /// AA: the sender is authoritative for the answers.
    public static let authoritative = MessageFlags(rawValue: 0x0400)
    /// TC: in a multicast query, more known answers follow (RFC 6762 §7.2); in a response, some answers did not fit.
    public static let truncated = MessageFlags(rawValue: 0x0200)
    /// RD: the client asks the server to find the answer elsewhere if necessary.
    public static let recursionDesired = MessageFlags(rawValue: 0x0100)

    /// OPCODE; 0 is a standard query.
    public var operation: UInt16 { rawValue >> 11 & 0xF }
    /// RCODE; 0 means that no error occurred.
    public var responseCode: UInt16 { rawValue & 0xF }
}

/// One question (RFC 1035 §4.1.2).
public struct Question: Hashable, Sendable {
    /// The name that is asked for.
    public var name: Name
    /// The requested type, or ``RecordType/any``.
    public var type: RecordType
    /// The requested class, or ``RecordClass/any``.
    public var recordClass: RecordClass
    /// The top bit of the class (RFC 6762 §5.4): set if the asker accepts a unicast response ("QU"), else clear ("QM").
    public var wantsUnicast: Bool

    /// Creates a question.
    public init(name: Name, type: RecordType, recordClass: RecordClass = .internet, wantsUnicast: Bool = false) {
        self.name = name
        self.type = type
        self.recordClass = recordClass
        self.wantsUnicast = wantsUnicast
    }

    /// True when the record answers this question (RFC 6762 §6).
    public func isAnswered(by record: Record) -> Bool {
        (type == .any || type == record.type) && (recordClass == .any || recordClass == record.recordClass)
            && name == record.name
    }
}
