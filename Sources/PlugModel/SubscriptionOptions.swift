/// What a controller wants to follow.
public struct SubscriptionOptions: Hashable, Sendable {
    /// Where the event lane begins.
    public enum Events: Hashable, Sendable {
        /// No events.
        case none
        /// Those from now on; on a lane that is open already, on from where it is.
        case fromNow
        /// Those after the last one seen; 0 for all that the plug still has.
        case after(SequenceNumber)
    }

    public var events: Events
    /// Nil for no states at all.
    public var state: StateOptions?

    public init(events: Events, state: StateOptions? = StateOptions()) {
        self.events = events
        self.state = state
    }
}

/// How often a reading is worth sending. Relay and level are always sent at once.
public struct StateOptions: Hashable, Sendable {
    /// A reading is sent when active power moved by at least so many milliwatts; 0 sends each.
    public var deadBandMilliwatts: UInt32
    /// ... or so long after the last one, in whole milliseconds; nil leaves it to the plug (1 s).
    public var maximumInterval: Duration?

    public init(deadBandMilliwatts: UInt32 = 0, maximumInterval: Duration? = nil) {
        self.deadBandMilliwatts = deadBandMilliwatts
        self.maximumInterval = maximumInterval
    }
}
