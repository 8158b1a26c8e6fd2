/// The value of an attribute in a report or a write request (Matter 10.6.4).
public struct AttributeData: Hashable, Sendable {
    /// The path of the attribute.
    public var path: AttributePath
    /// The data version of the cluster. A write with a version requires that the cluster has it.
    public var version: UInt32?
    /// The value.
    public var value: TLVValue

    /// Creates a value.
    public init(path: AttributePath, version: UInt32? = nil, value: TLVValue) {
        (self.path, self.version, self.value) = (path, version, value)
    }

    init(_ value: TLVValue) throws(MatterError) {
        self.init(
            path: try AttributePath(try value.field(1, of: "AttributeDataIB")),
            version: try value.optional(0, UInt32.self), value: try value.field(2, of: "AttributeDataIB"))
    }

    /// The AttributeDataIB.
    var tlv: TLVValue { .fields((0, version.tlv), (1, path.tlv), (2, value)) }
}

/// The status of an attribute path (Matter 10.6.16).
public struct AttributeStatus: Hashable, Sendable {
    /// The path.
    public var path: AttributePath
    /// The status.
    public var status: InteractionStatus

    /// Creates a status.
    public init(_ path: AttributePath, _ status: InteractionStatus) { (self.path, self.status) = (path, status) }

    init(_ value: TLVValue) throws(MatterError) {
        path = try AttributePath(try value.field(0, of: "AttributeStatusIB"))
        status = try InteractionStatus(try value.field(1, of: "AttributeStatusIB"))
    }

    /// The AttributeStatusIB.
    var tlv: TLVValue { .fields((0, path.tlv), (1, status.tlv)) }
}

/// The report of one attribute (Matter 10.6.5).
public enum AttributeReport: Hashable, Sendable {
    /// The value of the attribute.
    case data(AttributeData)
    /// The reason why the attribute cannot be reported.
    case status(AttributePath, InteractionStatus)

    init(_ value: TLVValue) throws(MatterError) {
        if let data = value[1] {
            self = .data(try AttributeData(data))
        } else {
            let status = try AttributeStatus(try value.field(0, of: "AttributeReportIB"))
            self = .status(status.path, status.status)
        }
    }

    /// The AttributeReportIB.
    var tlv: TLVValue {
        switch self {
        case .data(let data): .fields((1, data.tlv))
        case .status(let path, let status): .fields((0, AttributeStatus(path, status).tlv))
        }
    }

    /// The number of bytes that the report adds to a message.
    public var encodedCount: Int { tlv.encodedCount }
}

/// The time of an event.
public enum EventTime: Hashable, Sendable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    case epoch(UInt64)
    /// Milliseconds since the start of the node.
    case system(UInt64)
}

/// An event in a report (Matter 10.6.9).
public struct EventData: Hashable, Sendable {
    /// The path of the event, without wildcards.
    public var path: EventPath
    /// The number of the event. Numbers of a node increase.
    public var number: UInt64
    /// The priority: 0 debug, 1 info, 2 critical.
    public var priority: UInt8
    /// The time of the event.
    public var timestamp: EventTime
    /// The fields of the event, a structure.
    public var value: TLVValue

    /// Creates an event.
    public init(path: EventPath, number: UInt64, priority: UInt8, timestamp: EventTime, value: TLVValue) {
        (self.path, self.number, self.priority) = (path, number, priority)
        (self.timestamp, self.value) = (timestamp, value)
    }

    /// Decodes an EventDataIB. Times that are relative to a previous event are not supported.
    init(_ value: TLVValue) throws(MatterError) {
        let timestamp: EventTime
        if let epoch = try value.optional(3, UInt64.self) {
            timestamp = .epoch(epoch)
        } else if let system = try value.optional(4, UInt64.self) {
            timestamp = .system(system)
        } else {
            throw .unsupported("EventDataIB: it has no absolute time")
        }
        self.init(
            path: try EventPath(try value.field(0, of: "EventDataIB")),
            number: try value.field(1, UInt64.self, of: "EventDataIB"),
            priority: try value.field(2, UInt8.self, of: "EventDataIB"), timestamp: timestamp,
            value: value[7] ?? .structure([]))
    }

    /// The EventDataIB.
    var tlv: TLVValue {
        let (epoch, system): (TLVValue?, TLVValue?) =
            switch timestamp {
            case .epoch(let time): (.unsigned(time), nil)
            case .system(let time): (nil, .unsigned(time))
            }
        return .fields(
            (0, path.tlv), (1, .unsigned(number)), (2, .unsigned(UInt64(priority))), (3, epoch), (4, system),
            (7, value))
    }
}

/// The report of one event (Matter 10.6.10).
public enum EventReport: Hashable, Sendable {
    /// The event.
    case data(EventData)
    /// The reason why the events of a path cannot be reported.
    case status(EventPath, InteractionStatus)

    init(_ value: TLVValue) throws(MatterError) {
        if let data = value[1] {
            self = .data(try EventData(data))
        } else {
            let status = try value.field(0, of: "EventReportIB")
            self = .status(
                try EventPath(try status.field(0, of: "EventStatusIB")),
                try InteractionStatus(try status.field(1, of: "EventStatusIB")))
        }
    }

    /// The EventReportIB.
    var tlv: TLVValue {
        switch self {
        case .data(let data): .fields((1, data.tlv))
        case .status(let path, let status): .fields((0, .fields((0, path.tlv), (1, status.tlv))))
        }
    }

    /// The number of bytes that the report adds to a message.
    public var encodedCount: Int { tlv.encodedCount }
}

/// A message of reports (Matter 10.7.3).
public struct ReportData: Hashable, Sendable {
    /// The subscription, or nil for the answer to a read request.
    public var subscription: UInt32?
    /// The reports of attributes.
    public var attributes: [AttributeReport]
    /// The reports of events.
    public var events: [EventReport]
    /// True if a message with further reports follows.
    public var hasMore: Bool
    /// True if the receiver must not answer with a status response.
    public var suppressesResponse: Bool

    /// Creates a message.
    public init(
        subscription: UInt32? = nil, attributes: [AttributeReport] = [], events: [EventReport] = [],
        hasMore: Bool = false, suppressesResponse: Bool = false
    ) {
        (self.subscription, self.attributes, self.events) = (subscription, attributes, events)
        (self.hasMore, self.suppressesResponse) = (hasMore, suppressesResponse)
    }

    init(_ value: TLVValue) throws(MatterError) {
        subscription = try value.optional(0, UInt32.self)
        attributes = try value.items(1).map { item throws(MatterError) in try AttributeReport(item) }
        events = try value.items(2).map { item throws(MatterError) in try EventReport(item) }
        hasMore = try value.flag(3)
        suppressesResponse = try value.flag(4)
    }

    var tlv: [(UInt8, TLVValue?)] {
        [
            (0, subscription.tlv), (1, attributes.map(\.tlv).tlvIfNotEmpty), (2, events.map(\.tlv).tlvIfNotEmpty),
            (3, hasMore.tlvIfTrue), (4, suppressesResponse.tlvIfTrue),
        ]
    }
}
