import PlugModel

/// Up to where the events of a followed plug are accounted for. Numbers belong to a plug, not to its name: two plugs may swap
/// their names, and a new one may take the name of one that broke.
struct EventPosition {
    /// Plugs whose numbers are kept at the same time. Stops a network of ever new ids from filling the memory.
    static let limit = 1024

    private let first: Cursor
    private var known: [PlugID: SequenceNumber]
    /// The plug that bore the name first.
    private var original: PlugID?
    private(set) var plug: PlugID?

    init(first: Cursor, known: [PlugID: SequenceNumber]) {
        self.first = first
        self.known = known
    }

    /// The last event accounted for of the plug that is followed now; nil before it was asked where its events stand.
    var last: SequenceNumber? { plug.flatMap { known[$0] } }

    /// Where the events of this plug go on: after the last one known, at the beginning that was asked for, or, for one that
    /// took the name later, from now on.
    mutating func subscription(at plug: PlugID) -> SubscriptionOptions.Events {
        if original == nil { original = plug }
        self.plug = plug
        if let last { return .after(last) }
        let begin = plug == original ? first.subscription : .fromNow
        if case .after(let sequence) = begin { moved(to: sequence) }
        return begin
    }

    mutating func moved(to sequence: SequenceNumber) {
        guard let plug, known[plug] != nil || known.count < Self.limit else { return }
        known[plug] = sequence
    }
}
