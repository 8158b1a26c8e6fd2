import PlugModel

/// The position up to which the events of a followed plug have been received. Event numbers belong to a plug, not to
/// its name: two plugs may swap their names, and a new plug may replace a broken one under the same name.
struct EventPosition {
    /// The maximum number of plugs whose positions are stored. The limit prevents a network with constantly new ids
    /// from filling the memory.
    static let limit = 1024

    private let first: Cursor
    private var known: [PlugID: SequenceNumber]
    /// The first plug that was connected under the name.
    private var original: PlugID?
    private(set) var plug: PlugID?

    init(first: Cursor, known: [PlugID: SequenceNumber]) {
        self.first = first
        self.known = known
    }

    /// The last received event of the followed plug; nil before the plug accepted its first subscription.
    var last: SequenceNumber? { plug.flatMap { known[$0] } }

    /// Returns the position at which the subscription to this plug's events begins. This is the plug's last known
    /// event, if any; otherwise the requested cursor for the first plug under the name, and now for a later plug.
    mutating func subscription(at plug: PlugID) -> SubscriptionOptions.Events {
        if original == nil { original = plug }
        self.plug = plug
        if let last { return .after(last) }
        let begin = plug == original ? first.subscription : .fromNow
        if case .after(let sequence) = begin { moved(to: sequence) }
        return begin
    }

    /// Advances the position of the current plug.
    mutating func moved(to sequence: SequenceNumber) {
        guard let plug, known[plug] != nil || known.count < Self.limit else { return }
        known[plug] = sequence
    }
}
