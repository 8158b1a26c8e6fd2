import ProtocolCore
import Testing

struct DeadlineQueueTests {
    private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    @Test("A key that is scheduled at several times is due once, at the earliest time")
    func theSoonestTimeOfAKeyCounts() {
        var queue = DeadlineQueue<String>()
        for (key, time) in [("b", 5), ("a", 5), ("c", 3), ("a", 9), ("b", 2)] { queue.schedule(key, at: at(time)) }
        #expect(queue.next == at(2))
        let early = queue.takeDue(now: at(1))
        let first = queue.takeDue(now: at(4))
        let second = queue.takeDue(now: at(5))
        #expect(early == [] && first == ["b", "c"] && second == ["a"])
        let rest = queue.takeDue(now: at(100))
        #expect(rest == [] && queue.next == nil)
    }

    @Test(
        "For random operations, the queue returns the same keys as a simple table", arguments: 0..<20 as Range<UInt64>)
    func itDoesWhatATableDoes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = DeadlineQueue<Int>()
        var table: [Int: Instant] = [:]
        var now = Instant.zero
        for _ in 0..<2000 {
            let key = Int.random(in: 0..<50, using: &random)
            let time = now + random.duration(in: .zero ... .seconds(100))
            queue.schedule(key, at: time)
            table[key] = min(time, table[key] ?? time)
            now = now + random.duration(in: .zero ... .seconds(2))
            let expected = table.filter { $0.value <= now }.sorted { $0.value < $1.value }.map(\.key)
            let due = queue.takeDue(now: now)
            #expect(due == expected)
            for key in expected { table[key] = nil }
            if let first = table.values.min() { #expect(queue.next.map { $0 <= first } == true) }
        }
    }
}
