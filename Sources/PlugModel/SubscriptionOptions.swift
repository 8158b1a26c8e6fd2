/// The lanes that a controller subscribes to.
public struct SubscriptionOptions: Hashable, Sendable {
    /// The start of the event lane.
    public enum Events: Hashable, Sendable {
        /// No events.
        case none
        /// Only events after the subscription. If the event lane is already open, it continues at its position.
        case fromNow
        /// Events after this number. 0 requests all events that the plug has.
        case after(SequenceNumber)
    }

    /// The start of the event lane.
    public var events: Events
    /// The options of the state lane, or nil for no states.
    public var state: StateOptions?

    /// Creates options.
    public init(events: Events, state: StateOptions? = StateOptions()) {
        self.events = events
        self.state = state
    }
}

/// The conditions for sending a reading. Changes of relay and level are always sent immediately.
public struct StateOptions: Hashable, Sendable {
    /// The plug sends a reading when active power changed by at least this many milliwatts. 0 sends every reading.
    public var deadBandMilliwatts: UInt32
    /// The plug also sends a reading with a smaller change of power when this interval has passed since the last sent
    /// state. The interval has whole milliseconds; nil means the plug's default of 1 s.
    public var maximumInterval: Duration?

    /// Creates options.
    public init(deadBandMilliwatts: UInt32 = 0, maximumInterval: Duration? = nil) {
        self.deadBandMilliwatts = deadBandMilliwatts
        self.maximumInterval = maximumInterval
    }
}
