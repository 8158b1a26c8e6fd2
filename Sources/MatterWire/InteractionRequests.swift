/// A request for attributes and events (Matter 10.7.2).
public struct ReadRequest: Hashable, Sendable {
    /// The paths of the attributes.
    public var attributes: [AttributePath]
    /// The paths of the events.
    public var events: [EventPath]
    /// The number of the first event to report, or nil for all events.
    public var eventMinimum: UInt64?
    /// The data versions that the reader already has.
    public var versions: [DataVersionFilter]
    /// True if lists contain only the entries of the accessor's fabric.
    public var isFabricFiltered: Bool

    /// Creates a request.
    public init(
        attributes: [AttributePath] = [], events: [EventPath] = [], eventMinimum: UInt64? = nil,
        versions: [DataVersionFilter] = [], isFabricFiltered: Bool = true
    ) {
        (self.attributes, self.events, self.eventMinimum) = (attributes, events, eventMinimum)
        (self.versions, self.isFabricFiltered) = (versions, isFabricFiltered)
    }

    /// The context tags of the members, which differ between read and subscribe requests.
    struct Tags {
        let attributes, events, filters, isFabricFiltered, versions: UInt8

        static let read = Tags(attributes: 0, events: 1, filters: 2, isFabricFiltered: 3, versions: 4)
        static let subscribe = Tags(attributes: 3, events: 4, filters: 5, isFabricFiltered: 7, versions: 8)
    }

    /// Decodes the members. Data version filters after the first ``InteractionMessage/pathLimit`` are ignored, which
    /// only makes the report longer.
    init(_ value: TLVValue, _ tags: Tags) throws(MatterError) {
        attributes = try value.paths(tags.attributes) { item throws(MatterError) in try AttributePath(item) }
        events = try value.paths(tags.events) { item throws(MatterError) in try EventPath(item) }
        guard attributes.count + events.count <= InteractionMessage.pathLimit else {
            throw .interaction(.pathsExhausted, "more than \(InteractionMessage.pathLimit) paths")
        }
        eventMinimum = try value.items(tags.filters).first?.field(1, UInt64.self, of: "EventFilterIB")
        versions = try value.items(tags.versions).prefix(InteractionMessage.pathLimit).map {
            filter throws(MatterError) in try DataVersionFilter(filter)
        }
        isFabricFiltered = try value.flag(tags.isFabricFiltered)
    }

    func tlv(_ tags: Tags) -> [(UInt8, TLVValue?)] {
        [
            (tags.attributes, attributes.map(\.tlv).tlvIfNotEmpty), (tags.events, events.map(\.tlv).tlvIfNotEmpty),
            (tags.filters, eventMinimum.map { .array([.fields((1, .unsigned($0)))]) }),
            (tags.isFabricFiltered, .boolean(isFabricFiltered)),
            (tags.versions, versions.map(\.tlv).tlvIfNotEmpty),
        ]
    }
}

/// A request for a subscription (Matter 10.7.4).
public struct SubscribeRequest: Hashable, Sendable {
    /// True if existing subscriptions of the same subscriber continue.
    public var keepsSubscriptions: Bool
    /// The smallest time between reports in seconds.
    public var minInterval: UInt16
    /// The largest time between reports in seconds that the subscriber requests.
    public var maxInterval: UInt16
    /// The requested attributes and events.
    public var read: ReadRequest

    /// Creates a request.
    public init(keepsSubscriptions: Bool, minInterval: UInt16, maxInterval: UInt16, read: ReadRequest) {
        (self.keepsSubscriptions, self.minInterval, self.maxInterval) = (keepsSubscriptions, minInterval, maxInterval)
        self.read = read
    }

    init(_ value: TLVValue) throws(MatterError) {
        keepsSubscriptions = try value.flag(0)
        minInterval = try value.field(1, UInt16.self, of: "SubscribeRequest")
        maxInterval = try value.field(2, UInt16.self, of: "SubscribeRequest")
        read = try ReadRequest(value, .subscribe)
    }

    var tlv: [(UInt8, TLVValue?)] {
        [
            (0, .boolean(keepsSubscriptions)), (1, .unsigned(UInt64(minInterval))),
            (2, .unsigned(UInt64(maxInterval))),
        ] + read.tlv(.subscribe)
    }
}

/// A request to write attributes (Matter 10.7.6).
public struct WriteRequest: Hashable, Sendable {
    /// True if the receiver must not answer, as in a write to a group.
    public var suppressesResponse: Bool
    /// True if a timed request preceded.
    public var isTimed: Bool
    /// The values in the order in which they are written.
    public var writes: [AttributeData]
    /// True if a message with further values follows.
    public var hasMore: Bool

    /// Creates a request.
    public init(
        suppressesResponse: Bool = false, isTimed: Bool = false, writes: [AttributeData], hasMore: Bool = false
    ) {
        (self.suppressesResponse, self.isTimed) = (suppressesResponse, isTimed)
        (self.writes, self.hasMore) = (writes, hasMore)
    }

    init(_ value: TLVValue) throws(MatterError) {
        suppressesResponse = try value.flag(0)
        isTimed = try value.flag(1)
        writes = try value.paths(2) { item throws(MatterError) in try AttributeData(item) }
        hasMore = try value.flag(3)
    }

    var tlv: [(UInt8, TLVValue?)] {
        [
            (0, .boolean(suppressesResponse)), (1, .boolean(isTimed)), (2, .array(writes.map(\.tlv))),
            (3, hasMore.tlvIfTrue),
        ]
    }
}

/// A command of an invoke request (Matter 10.6.12).
public struct InvokeCommand: Hashable, Sendable {
    /// The path of the command.
    public var path: CommandPath
    /// The fields, a structure. It is empty if the message has no fields.
    public var fields: TLVValue
    /// The number that identifies the command among several commands of a message, or nil.
    public var reference: UInt16?

    /// Creates a command.
    public init(path: CommandPath, fields: TLVValue = .structure([]), reference: UInt16? = nil) {
        (self.path, self.fields, self.reference) = (path, fields, reference)
    }

    init(_ value: TLVValue) throws(MatterError) {
        self.init(
            path: try CommandPath(try value.field(0, of: "CommandDataIB")), fields: value[1] ?? .structure([]),
            reference: try value.optional(2, UInt16.self))
    }

    /// The CommandDataIB.
    var tlv: TLVValue { .fields((0, path.tlv), (1, fields), (2, reference.tlv)) }
}

/// A request to invoke commands (Matter 10.7.9).
public struct InvokeRequest: Hashable, Sendable {
    /// True if the receiver must not answer, as in a command to a group.
    public var suppressesResponse: Bool
    /// True if a timed request preceded.
    public var isTimed: Bool
    /// The commands.
    public var commands: [InvokeCommand]

    /// Creates a request.
    public init(suppressesResponse: Bool = false, isTimed: Bool = false, commands: [InvokeCommand]) {
        (self.suppressesResponse, self.isTimed, self.commands) = (suppressesResponse, isTimed, commands)
    }

    init(_ value: TLVValue) throws(MatterError) {
        suppressesResponse = try value.flag(0)
        isTimed = try value.flag(1)
        commands = try value.paths(2) { item throws(MatterError) in try InvokeCommand(item) }
    }

    var tlv: [(UInt8, TLVValue?)] {
        [(0, .boolean(suppressesResponse)), (1, .boolean(isTimed)), (2, .array(commands.map(\.tlv)))]
    }
}

/// The answer to one command (Matter 10.6.13).
public enum InvokeReply: Hashable, Sendable {
    /// A response command with its fields.
    case command(CommandPath, TLVValue, reference: UInt16?)
    /// A status. The path is that of the request.
    case status(CommandPath, InteractionStatus, reference: UInt16?)

    init(_ value: TLVValue) throws(MatterError) {
        if let command = value[0] {
            let command = try InvokeCommand(command)
            self = .command(command.path, command.fields, reference: command.reference)
        } else {
            let status = try value.field(1, of: "InvokeResponseIB")
            self = .status(
                try CommandPath(try status.field(0, of: "CommandStatusIB")),
                try InteractionStatus(try status.field(1, of: "CommandStatusIB")),
                reference: try status.optional(2, UInt16.self))
        }
    }

    /// The InvokeResponseIB.
    var tlv: TLVValue {
        switch self {
        case .command(let path, let fields, let reference):
            .fields((0, InvokeCommand(path: path, fields: fields, reference: reference).tlv))
        case .status(let path, let status, let reference):
            .fields((1, .fields((0, path.tlv), (1, status.tlv), (2, reference.tlv))))
        }
    }

    /// The number of bytes that the answer adds to a message.
    public var encodedCount: Int { tlv.encodedCount }
}

/// The answers to an invoke request (Matter 10.7.10).
public struct InvokeResponse: Hashable, Sendable {
    /// True if the receiver must not answer.
    public var suppressesResponse: Bool
    /// The answers.
    public var responses: [InvokeReply]
    /// True if a message with further answers follows.
    public var hasMore: Bool

    /// Creates a message.
    public init(suppressesResponse: Bool = false, responses: [InvokeReply], hasMore: Bool = false) {
        (self.suppressesResponse, self.responses, self.hasMore) = (suppressesResponse, responses, hasMore)
    }

    init(_ value: TLVValue) throws(MatterError) {
        suppressesResponse = try value.flag(0)
        responses = try value.items(1).map { item throws(MatterError) in try InvokeReply(item) }
        hasMore = try value.flag(2)
    }

    var tlv: [(UInt8, TLVValue?)] {
        [(0, .boolean(suppressesResponse)), (1, .array(responses.map(\.tlv))), (2, hasMore.tlvIfTrue)]
    }
}
