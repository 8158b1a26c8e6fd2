import PlugModel

/// The queue of one script's stored calls. At most one call is in progress; the others wait for their turn.
struct ScriptCallQueue: Sendable {
    private(set) var asked: RequestID?
    private var waiting: [RequestID] = []
    /// The place of the next call. The calls before it were started or skipped.
    private var next = 0

    var isEmpty: Bool { asked == nil && next == waiting.count }

    mutating func add(_ id: RequestID) { waiting.append(id) }

    /// Inserts calls before all waiting calls: those of an earlier process, or a withdrawn call that is made again.
    mutating func addAhead(_ ids: [RequestID]) { waiting.insert(contentsOf: ids, at: next) }

    /// Starts the next wanted call and returns it; nil while one is in progress, or if the queue is empty.
    mutating func advance(where isWanted: (RequestID) -> Bool) -> RequestID? {
        guard asked == nil else { return nil }
        while next < waiting.count, asked == nil {
            if isWanted(waiting[next]) { asked = waiting[next] }
            next += 1
        }
        if next > 64, 2 * next > waiting.count {
            waiting.removeFirst(next)
            next = 0
        }
        return asked
    }

    /// Ends the call in progress. Returns false if the call in progress has a different id.
    mutating func end(_ id: RequestID) -> Bool {
        guard asked == id else { return false }
        asked = nil
        return true
    }
}
