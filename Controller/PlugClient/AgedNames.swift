/// Names in the order in which they came, each once.
struct AgedNames: Sendable {
    private var numbers: [String: UInt64] = [:]
    /// It may hold names that left, and that came again later; those are passed over.
    private var queue: [(name: String, number: UInt64)] = []
    private var first = 0
    private var last: UInt64 = 0

    var count: Int { numbers.count }
    func contains(_ name: String) -> Bool { numbers[name] != nil }

    /// One that is here keeps its place.
    mutating func add(_ name: String) {
        guard numbers[name] == nil else { return }
        last += 1
        numbers[name] = last
        queue.append((name, last))
        // Stops names that come and leave again and again from growing the queue.
        guard queue.count > 2 * numbers.count + 64 else { return }
        queue = queue[first...].filter { numbers[$0.name] == $0.number }
        first = 0
    }

    mutating func remove(_ name: String) { numbers[name] = nil }

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
