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

    /// The number of the last received event of the current plug. Nil before the first call of ``subscription(at:)``.
    /// Also nil after a subscription that begins at `fromNow`, until ``moved(to:)`` sets a position.
    var last: SequenceNumber? { plug.flatMap { known[$0] } }

    /// Returns the position at which the subscription to this plug's events begins: after the plug's last known event.
    /// If no event of the plug is known, the position is the requested cursor for the first plug under the name, and
    /// `fromNow` for each later plug.
    mutating func subscription(at plug: PlugID) -> SubscriptionOptions.Events {
        if original == nil { original = plug }
        self.plug = plug
        if let last { return .after(last) }
        let begin = plug == original ? first.subscription : .fromNow
        if case .after(let sequence) = begin { moved(to: sequence) }
        return begin
    }

    /// Sets the position of the current plug. Does nothing if the plug is new and `limit` positions are stored.
    mutating func moved(to sequence: SequenceNumber) {
        guard let plug, known[plug] != nil || known.count < Self.limit else { return }
        known[plug] = sequence
    }
}
