/// What a plug said about itself at the start of a session.
public struct PlugDescription: Hashable, Sendable {
    public var id: PlugID
    /// The service instance name that it had at that moment.
    public var name: String
    /// Those that this version knows.
    public var capabilities: Set<Capability>
    public var firmware: String
    public var boot: BootID
    /// The plug's clock against the controller's.
    public var clock: ClockMapping
    /// Its interfaces when the session began; none where its firmware does not tell.
    public var networks: [PlugNetwork] = []
    /// The last end of its firmware that was not in order; nil where there was none, or its firmware does not tell.
    public var crash: PlugCrash?
    /// What ``PlugCommand/configure(_:)`` can change, as it stood when the session began; nil where its firmware cannot.
    public var settings: RemoteSettings?
}

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

/// What a session has to tell the controller, in the order in which it happened.
public enum SessionUpdate: Hashable, Sendable {
    /// The plug accepted the session.
    case welcomed(PlugDescription)
    /// The event lane goes on after `gap`; `next` is the number of the next new event. Also comes unasked, with a gap, when
    /// the plug's journal overtook this session.
    case subscribed(next: SequenceNumber, gap: Gap?)
    /// The state when the state lane opened.
    case snapshot(PlugState)
    /// `age`: how long ago it happened; nil where it happened in another boot, so that nobody knows.
    case event(PlugEvent, age: Duration?)
    /// An event that this version cannot read. It has happened, so the cursor moves past it.
    case unknownEvent(SequenceNumber)
    /// The newest state.
    case state(PlugState)
    case commandFinished(RequestID, CommandOutcome)
    /// The deadline passed without an answer: it may or may not have taken effect. The same request id may be sent again.
    case commandUnanswered(RequestID)
    /// One sample chunk of a fetch; empty where the plug has nothing in the range.
    case samples(fetch: UInt32, chunk: [UInt8], last: Bool)
    /// Too many fetches run already; try again when one has ended.
    case fetchRefused(UInt32)
    /// Who is paired with the plug, in the order in which they were.
    case controllers([PairedControllerEntry])
    /// The plug's service instance name, or its settings, are no longer what ``PlugDescription`` says.
    case described(name: String, RemoteSettings?)
    /// A line of the plug's log, or how it stands with them.
    case log(LogUpdate)
    /// The last update of a session. The outcome of commands still open is unknown.
    case ended(EndReason)
}
