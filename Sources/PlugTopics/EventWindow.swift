import DequeModule
import PlugModel
import ProtocolCore

/// The events that are on their way to the broker, and those right behind them. What is further behind stays in the journal, and is fetched.
struct EventWindow: Sendable {
    /// Entries in memory: stops a broker that is away from filling it.
    static let limit = 256

    private enum Progress { case waiting, inFlight, taken }
    private struct Place {
        var entry: QueuedEvent
        var progress = Progress.waiting
    }

    /// Every event up to this one was taken by the broker, or was lost.
    private(set) var cursor: QueuedEvent.Position
    /// The newest of the journal.
    private(set) var newest: QueuedEvent.Position
    /// The last one that is in the window, or was.
    private var last: QueuedEvent.Position
    private var places: Deque<Place> = []
    private var fetchesThrough: QueuedEvent.Position?

    init(after cursor: QueuedEvent.Position, newest: QueuedEvent.Position) {
        self.cursor = cursor
        self.newest = max(newest, cursor)
        last = cursor
    }

    mutating func happened(_ entry: QueuedEvent) {
        guard entry.position > newest else { return }
        let isNext = last == newest
        newest = entry.position
        guard isNext, fetchesThrough == nil, places.count < Self.limit else { return }
        append(entry)
    }

    /// The journal has something new, up to this position.
    mutating func grown(to position: QueuedEvent.Position) { newest = max(newest, position) }

    /// How many to fetch after which position; nil where nothing need be fetched now.
    mutating func fetch() -> (after: QueuedEvent.Position, limit: Int)? {
        guard fetchesThrough == nil, last < newest, places.count <= Self.limit / 2 else { return nil }
        fetchesThrough = newest
        return (last, Self.limit - places.count)
    }

    /// - Returns: how many the journal had lost before the first of them.
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

    /// The first that waits and whose plug may be told of now. Events of a plug stay in their order.
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

    /// What was in flight may not have arrived.
    ///
    /// - Parameter forgets: everything that was not taken is to be fetched again, as it is told then.
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
