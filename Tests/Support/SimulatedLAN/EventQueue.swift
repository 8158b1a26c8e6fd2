public import ProtocolCore

/// A queue of events in the order of their times. Events with the same time are in the order of scheduling.
///
/// The innermost loop of every simulation calls it, so it is inlinable and specialized for each kind of item.
public struct EventQueue<Item> {
    @usableFromInline struct Entry {
        @usableFromInline let time: Instant
        @usableFromInline let order: UInt64
        @usableFromInline let item: Item

        @inlinable init(time: Instant, order: UInt64, item: Item) {
            self.time = time
            self.order = order
            self.item = item
        }

        @inlinable func precedes(_ other: Entry) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    /// A binary heap with the first entry on top.
    @usableFromInline var heap: [Entry] = []
    @usableFromInline var scheduled: UInt64 = 0

    /// Creates an empty queue.
    @inlinable public init() {}

    /// The time of the first event, or nil if the queue is empty.
    @inlinable public var nextTime: Instant? { heap.first?.time }

    /// Adds an item at a time.
    @inlinable public mutating func schedule(_ item: Item, at time: Instant) {
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

    /// Removes and returns the first item, or nil if the queue is empty.
    @inlinable public mutating func next() -> (time: Instant, item: Item)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.item)
    }

    @inlinable mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            if left < heap.count, heap[left].precedes(heap[least]) { least = left }
            if right < heap.count, heap[right].precedes(heap[least]) { least = right }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
