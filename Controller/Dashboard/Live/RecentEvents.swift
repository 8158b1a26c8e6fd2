import DequeModule
import PlugModel
import Presentation

/// The newest events. The history may not have written them yet, so answers combine the history with these events.
struct RecentEvents: Hashable, Sendable {
    /// Identifies an event, regardless of its source.
    enum Identity: Hashable, Sendable {
        case event(PlugID, SequenceNumber)
        case gap(PlugID, from: SequenceNumber)
    }

    struct Event: Hashable, Sendable {
        let identity: Identity
        let plug: PlugID
        /// Milliseconds since 1970.
        let milliseconds: Int64
        let record: WatchRecord
    }

    /// The maximum number of stored events: more than arrive in the seconds before the history writes, even when all
    /// plugs reconnect.
    static let limit = 512

    private(set) var events: Deque<Event> = []

    mutating func add(_ event: Event) {
        events.append(event)
        if events.count > Self.limit { events.removeFirst() }
    }
}
