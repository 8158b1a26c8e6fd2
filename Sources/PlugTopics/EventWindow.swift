import DequeModule
import PlugModel
import ProtocolCore

/// The events that are being sent to the broker, and the next ones. Later events stay in the journal until they are
/// fetched.
struct EventWindow: Sendable {
    /// The limit of entries in memory.
    static let limit = 256

    private enum Progress { case waiting, inFlight, taken }
    private struct Place {
        var entry: QueuedEvent
        var progress = Progress.waiting
    }

    /// The position up to which every event was acknowledged or lost.
    private(set) var cursor: QueuedEvent.Position
    /// The newest position of the journal.
    private(set) var newest: QueuedEvent.Position
    /// The last position that was added to the window.
    private var last: QueuedEvent.Position
    private var places: Deque<Place> = []
    private var fetchesThrough: QueuedEvent.Position?

    init(after cursor: QueuedEvent.Position, newest: QueuedEvent.Position) {
        self.cursor = cursor
        self.newest = max(newest, cursor)
        last = cursor
    }

    /// Notes a new event of the journal. Adds it to the window if the window has all earlier events and room. Otherwise
    /// the event is fetched later.
    mutating func happened(_ entry: QueuedEvent) {
        guard entry.position > newest else { return }
        let isNext = last == newest
        newest = entry.position
        guard isNext, fetchesThrough == nil, places.count < Self.limit else { return }
        append(entry)
    }

    /// Notes that the journal has new events up to this position.
    mutating func grown(to position: QueuedEvent.Position) { newest = max(newest, position) }

    /// Returns the position after which to fetch and the maximum number of events, or nil if no fetch is needed now.
    mutating func fetch() -> (after: QueuedEvent.Position, limit: Int)? {
        guard fetchesThrough == nil, last < newest, places.count <= Self.limit / 2 else { return nil }
        fetchesThrough = newest
        return (last, Self.limit - places.count)
    }

    /// Adds fetched entries to the window. An empty list means that the journal has no later events.
    ///
    /// - Returns: the number of events that the journal lost before the first entry. For an empty list, the number of
    ///   all requested events. 0 if no fetch was in progress.
    mutating func fetched(_ entries: [QueuedEvent]) -> UInt64 {
        guard let through = fetchesThrough else { return 0 }
        fetchesThrough = nil
        let known = last
        for entry in entries where entry.position > last { append(entry) }
        if entries.isEmpty { last = max(last, through) }
        dropTaken()
        let first = entries.first?.first ?? through &+ 1
        return first > known ? first - known - 1 : 0
    }

    private mutating func append(_ entry: QueuedEvent) {
        places.append(Place(entry: entry))
        last = entry.position
    }

    /// Returns the first waiting event of a plug whose events may be sent now, and marks it as in flight. Returns nil
    /// if no such event exists. The events of a plug keep their order unless the broker rejects one.
    mutating func takeNext(where isFree: (PlugID) -> Bool) -> QueuedEvent? {
        guard let index = places.firstIndex(where: { $0.progress == .waiting && isFree($0.entry.plug) }) else {
            return nil
        }
        places[index].progress = .inFlight
        return places[index].entry
    }

    mutating func taken(_ position: QueuedEvent.Position) {
        guard let index = places.firstIndex(where: { $0.entry.position == position }) else { return }
        places[index].progress = .taken
        dropTaken()
    }

    mutating func notTaken(_ position: QueuedEvent.Position) {
        guard let index = places.firstIndex(where: { $0.entry.position == position }) else { return }
        places[index].progress = .waiting
    }

    /// Marks the events in flight as waiting, because the broker may not have received them.
    ///
    /// - Parameter forgets: true to drop the window, so that all unacknowledged events are fetched again with their
    ///   current payload.
    mutating func disconnected(forgets: Bool) {
        guard !forgets else {
            (places, last, fetchesThrough) = ([], cursor, nil)
            return
        }
        for index in places.indices where places[index].progress == .inFlight { places[index].progress = .waiting }
    }

    private mutating func dropTaken() {
        while let first = places.first, first.progress == .taken {
            cursor = first.entry.position
            places.removeFirst()
        }
        if places.isEmpty { cursor = max(cursor, last) }
    }
}
