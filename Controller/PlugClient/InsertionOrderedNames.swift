/// A set of names that remembers the order of insertion.
struct InsertionOrderedNames: Sendable {
    private var numbers: [String: UInt64] = [:]
    /// The names in insertion order. Names that were removed stay in the queue with an outdated number and are skipped.
    private var queue: [(name: String, number: UInt64)] = []
    private var first = 0
    private var last: UInt64 = 0

    var count: Int { numbers.count }
    func contains(_ name: String) -> Bool { numbers[name] != nil }

    /// Adds a name at the end. A name that is already in the set keeps its position.
    mutating func add(_ name: String) {
        guard numbers[name] == nil else { return }
        last += 1
        numbers[name] = last
        queue.append((name, last))
        // Names that are added and removed repeatedly would otherwise grow the queue without limit.
        guard queue.count > 2 * numbers.count + 64 else { return }
        queue = queue[first...].filter { numbers[$0.name] == $0.number }
        first = 0
    }

    mutating func remove(_ name: String) { numbers[name] = nil }

    /// Removes and returns the oldest name, or nil if the set is empty.
    mutating func takeOldest() -> String? {
        while first < queue.count {
            let (name, number) = queue[first]
            first += 1
            guard numbers[name] == number else { continue }
            numbers[name] = nil
            return name
        }
        return nil
    }
}
