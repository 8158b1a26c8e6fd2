import DequeModule
import PlugModel
import Presentation

/// What happened lately, which the history may not have written yet: whoever asks it for what happened misses nothing.
struct RecentEvents: Hashable, Sendable {
    /// Tells an event from another, whoever tells of it.
    enum Identity: Hashable, Sendable {
        case event(PlugID, SequenceNumber)
        case gap(PlugID, from: SequenceNumber)
    }

    struct Event: Hashable, Sendable {
        let identity: Identity
        let plug: PlugID
        /// Since 1970.
        let milliseconds: Int64
        let record: WatchRecord
    }

    /// More than come in the seconds that a write waits, also when the whole house returns.
    static let limit = 512

    private(set) var events: Deque<Event> = []

    mutating func add(_ event: Event) {
        events.append(event)
        if events.count > Self.limit { events.removeFirst() }
    }
}
