import PlugModel

/// The calls of one script that are stored: one is under way, the others wait for their turn.
struct CallLine: Sendable {
    private(set) var asked: RequestID?
    private var waiting: [RequestID] = []
    /// Those before it have had their turn.
    private var next = 0

    var isEmpty: Bool { asked == nil && next == waiting.count }

    mutating func add(_ id: RequestID) { waiting.append(id) }

    /// Those of an earlier process come before those of this one.
    mutating func addAhead(_ ids: [RequestID]) { waiting.insert(contentsOf: ids, at: next) }

    /// Whose turn it is now; nil while one is under way, or where nobody waits.
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

    /// False where it was not the one under way.
    mutating func end(_ id: RequestID) -> Bool {
        guard asked == id else { return false }
        asked = nil
        return true
    }
}
