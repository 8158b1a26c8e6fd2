public import ProtocolCore

/// What is to happen, in order of time and, at the same time, in order of scheduling.
public struct EventQueue<Item> {
    private struct Entry {
        let time: Instant
        let order: UInt64
        let item: Item

        func precedes(_ other: Entry) -> Bool { time == other.time ? order < other.order : time < other.time }
    }

    /// A binary heap, the first entry on top.
    private var heap: [Entry] = []
    private var scheduled: UInt64 = 0

    public init() {}

    public var nextTime: Instant? { heap.first?.time }

    public mutating func schedule(_ item: Item, at time: Instant) {
        scheduled += 1
        heap.append(Entry(time: time, order: scheduled, item: item))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    public mutating func next() -> (time: Instant, item: Item)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.item)
    }

    private mutating func sink() {
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
