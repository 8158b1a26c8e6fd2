public import PlugModel

/// A message to publish with QoS 1.
public struct Publication: Hashable, Sendable {
    /// The topic.
    public var topic: String
    /// The payload.
    public var payload: String
    /// True if the broker must retain the message.
    public var isRetained: Bool
    /// The correlation data of a request, or of the request that this message answers; nil for none.
    public var correlation: [UInt8]?
    /// The topic for the answer to a request, or nil if no answer is wanted.
    public var responseTopic: String?
    /// The lifetime of a request in seconds, or nil for no limit.
    public var expiry: UInt32?

    /// Creates a message to publish.
    public init(
        _ topic: String, _ payload: String, isRetained: Bool, correlation: [UInt8]? = nil,
        responseTopic: String? = nil, expiry: UInt32? = nil
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.correlation = correlation
        self.responseTopic = responseTopic
        self.expiry = expiry
    }
}

/// A message from the broker.
public struct BrokerMessage: Hashable, Sendable {
    /// The topic.
    public var topic: String
    /// The payload.
    public var payload: [UInt8]
    /// True if the publisher asked the broker to retain the message.
    public var isRetained: Bool
    /// The topic for the answer to a request, or nil if no answer is wanted.
    public var responseTopic: String?
    /// The correlation data of a request, or nil for none.
    public var correlation: [UInt8]?
    /// The remaining Message Expiry Interval in seconds (MQTT 5, section 3.3.2.3.3), or nil if the message has none.
    public var expiry: UInt32?
    /// The arrival time in seconds since 1970; nil if the wall clock is not known to be correct.
    public var at: Double?

    /// Creates a message from the broker.
    public init(
        topic: String, payload: [UInt8], isRetained: Bool = false, responseTopic: String? = nil,
        correlation: [UInt8]? = nil, expiry: UInt32? = nil, at: Double?
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.responseTopic = responseTopic
        self.correlation = correlation
        self.expiry = expiry
        self.at = at
    }
}

/// An event to publish, in the order of a journal.
public struct QueuedEvent: Hashable, Sendable {
    /// A position in the journal. The first one is 1, and positions increase.
    public typealias Position = UInt64

    /// The position in the journal.
    public var position: Position
    /// The first position that the entry covers: its own position, or an earlier one if the entry is a gap.
    public var first: Position
    /// The plug that had the event.
    public var plug: PlugID
    /// The number of the event at the plug.
    public var sequence: SequenceNumber
    /// The payload for the plug's topic `event`.
    public var payload: String

    /// Creates an entry. Without `since` it covers only its own position.
    public init(
        position: Position, since first: Position? = nil, plug: PlugID, sequence: SequenceNumber, payload: String
    ) {
        self.position = position
        self.first = first ?? position
        self.plug = plug
        self.sequence = sequence
        self.payload = payload
    }
}

/// Identifies a published message or a request during the lifetime of a machine.
public typealias BrokerTicket = UInt64

/// A notice about the broker for the user.
public enum BrokerNotice: Hashable, Sendable {
    /// A connection was established to the server with this index in the list.
    case connected(server: Int)
    /// An established connection ended.
    case lost(reason: String)
    /// Another program took the session over. This program stays disconnected for ten minutes.
    case takenOver
    /// Three consecutive connections ended within 3 s after their beginning.
    case unsteady
    /// A whole round of attempts reached no server of the list. Reported once until a connection succeeds.
    case unreachable(reason: String)
    /// The broker rejected a message. Reported once until it accepts one.
    case notTaken(topic: String, reason: String)
    /// The number of events that were lost because the journal was full while the broker was away.
    case left(out: UInt64)
    /// The number of rejected requests since the last report, with the topic and the reason of the last one.
    case refused(count: UInt64, topic: String, reason: String)
}
