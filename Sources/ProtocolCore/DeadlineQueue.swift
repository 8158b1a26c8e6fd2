/// A queue of keys by deadline, soonest first. ``takeDue(now:)`` visits only the keys that are due, even if thousands
/// wait.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        let time: Instant
        /// Ties are broken by the order of scheduling, so that a run repeats exactly.
        let order: UInt64
        let key: Key

        func precedes(_ other: Entry) -> Bool { time == other.time ? order < other.order : time < other.time }
    }

    /// A binary heap. It may contain entries of keys that were rescheduled to a sooner time; those entries are skipped.
    private var heap: [Entry] = []
    private var times: [Key: Instant] = [:]
    private var order: UInt64 = 0

    /// Creates an empty queue.
    public init() {}

    /// A time before which no key is due, or nil if the queue is empty. An obsolete entry may make the time too early.
    public var next: Instant? { heap.first?.time }

    /// Schedules the key for this time, unless it is already scheduled for a sooner time.
    public mutating func schedule(_ key: Key, at time: Instant) {
        if let known = times[key], known <= time { return }
        times[key] = time
        order += 1
        push(Entry(time: time, order: order, key: key))
        // Prevents repeated rescheduling of the same keys from growing the heap.
        if heap.count > 2 * times.count + 64 { rebuild() }
    }

    /// Removes the key from the schedule.
    public mutating func forget(_ key: Key) {
        guard times.removeValue(forKey: key) != nil, heap.count > 2 * times.count + 64 else { return }
        rebuild()
    }

    /// Removes and returns the keys that are due, in order.
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
