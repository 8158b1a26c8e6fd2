/// A DNS message (RFC 1035 §4).
public struct Message: Hashable, Sendable {
    public var id: UInt16
    public var flags: MessageFlags
    public var questions: [Question]
    public var answers: [Record]
    public var authorities: [Record]
    public var additionals: [Record]

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
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// QR: a response; without it, a query.
    public static let response = MessageFlags(rawValue: 0x8000)
    /// AA: the sender is authoritative for the answers.
    public static let authoritative = MessageFlags(rawValue: 0x0400)
    /// TC: in a multicast query, more known answers follow (RFC 6762 §7.2).
    public static let truncated = MessageFlags(rawValue: 0x0200)

    /// OPCODE; 0 is a standard query.
    public var operation: UInt16 { rawValue >> 11 & 0xF }
    /// RCODE; 0 means that no error occurred.
    public var responseCode: UInt16 { rawValue & 0xF }
}

/// One question (RFC 1035 §4.1.2).
public struct Question: Hashable, Sendable {
    public var name: Name
    public var type: RecordType
    public var recordClass: RecordClass
    /// The top bit of the class (RFC 6762 §5.4): "QU", a unicast response is welcome; without it, "QM".
    public var wantsUnicast: Bool

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
