public import PlugModel

/// A message that is to be published with QoS 1.
public struct Publication: Hashable, Sendable {
    public var topic: String
    public var payload: String
    public var isRetained: Bool
    /// Of the request that it answers, or of the request that it is.
    public var correlation: [UInt8]?
    /// Where a request wants its answer.
    public var responseTopic: String?
    /// Seconds for which a request counts.
    public var expiry: UInt32?

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
    public var topic: String
    public var payload: [UInt8]
    /// Its publisher wants the broker to keep it.
    public var isRetained: Bool
    public var responseTopic: String?
    public var correlation: [UInt8]?
    /// Seconds that are left of its Message Expiry Interval (MQTT 5, section 3.3.2.3.3).
    public var expiry: UInt32?
    /// When it came, on the wall clock: seconds since 1970. Nil where the clock is not known to be right.
    public var at: Double?

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

/// An event that is to be published, in the order of a journal.
public struct QueuedEvent: Hashable, Sendable {
    /// 1 is the first; each entry's is greater than the one before it.
    public typealias Position = UInt64

    public var position: Position
    /// The first position that it stands for: an earlier one where it is a gap.
    public var first: Position
    public var plug: PlugID
    public var sequence: SequenceNumber
    /// The message on the plug's topic `event`.
    public var payload: String

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

/// Numbers of what was published, and of requests, in the life of a machine.
public typealias BrokerTicket = UInt64

/// What a person should know about the broker.
public enum BrokerNotice: Hashable, Sendable {
    case connected(server: Int)
    /// It was connected, and is not any more.
    case lost(reason: String)
    /// Another program has the session there: this one says nothing there for ten minutes.
    case takenOver
    /// Connections end as soon as they begin.
    case unsteady
    /// No server of the list could be reached in the first round; told once until one was.
    case unreachable(reason: String)
    /// The broker does not take a message; told once until it took one.
    case notTaken(topic: String, reason: String)
    /// Events that found no room while the broker was away.
    case left(out: UInt64)
    /// Requests that were refused since it was told last, and why the last one was.
    case refused(count: UInt64, topic: String, reason: String)
}
