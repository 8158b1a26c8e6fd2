/// When each of many things is due, the soonest first. Thousands of them cost no more than the ones that are due.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        let time: Instant
        /// Ties are broken by the order of scheduling, so that a run repeats exactly.
        let order: UInt64
        let key: Key

        func precedes(_ other: Entry) -> Bool { time == other.time ? order < other.order : time < other.time }
    }

    /// A binary heap. It may hold entries of keys that were scheduled sooner meanwhile; those are passed over.
    private var heap: [Entry] = []
    private var times: [Key: Instant] = [:]
    private var order: UInt64 = 0

    public init() {}

    /// Nothing is due before this; something passed over may make it too soon.
    public var next: Instant? { heap.first?.time }

    /// The key is due at this time, unless it is due sooner already.
    public mutating func schedule(_ key: Key, at time: Instant) {
        if let known = times[key], known <= time { return }
        times[key] = time
        order += 1
        push(Entry(time: time, order: order, key: key))
        // Stops keys that are scheduled sooner again and again from growing the heap.
        if heap.count > 2 * times.count + 64 { rebuild() }
    }

    /// The key is due no more.
    public mutating func forget(_ key: Key) {
        guard times.removeValue(forKey: key) != nil, heap.count > 2 * times.count + 64 else { return }
        rebuild()
    }

    /// The keys that are due, in order; they are scheduled no more.
    public mutating func takeDue(now: Instant) -> [Key] {
        var due: [Key] = []
        while let first = heap.first, first.time <= now {
            pop()
            guard times[first.key] == first.time else { continue }
            times[first.key] = nil
            due.append(first.key)
        }
        return due
    }

    private mutating func rebuild() {
        let valid = heap.filter { times[$0.key] == $0.time }
        heap = []
        for entry in valid { push(entry) }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
