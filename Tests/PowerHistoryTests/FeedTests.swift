import GRDB
import Metering
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

/// Tests of the numbers that the history gives to its changes, and of the changes that a receiver of the feed gets.
@Suite struct FeedTests {
    private let directory = TestFolder(on: .memory)
    private let epoch = [UInt8](repeating: 7, count: 16)

    private func changes(
        _ history: PowerHistory, after number: Int64 = 0, atMost limit: Int = 1000, sampleLimit: Int = .max
    ) throws -> HistoryChanges {
        try history.changes(after: number, atMost: limit, sampleLimit: sampleLimit, samples: true)
    }

    @Test("Changes are numbered only after the first feed begins") func nothingIsNumberedUntilSomebodyFollows() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.record(batch(chunks(from: 0, count: 100) { _ in 10 }))
        #expect(try history.number(after: nil) == nil)
        #expect(try !history.hasChanges(after: 0))
        try history.beginFeed(epoch)
        #expect(try history.number(after: nil) == 0)
        let all = try changes(history)
        #expect(all.isAll && all.names == [lamp: ""] && all.chunks.map(\.stored.chunk.count) == [100])
        #expect(Set(all.rollUps.map(\.step)) == Set(RollUpStep.allCases))
        #expect(all.samples[lamp]?.map(\.at) == (0..<100).map { midnight + $0 * 1000 })
    }

    @Test("A record that changes again moves to the end of the feed") func whatChangesAgainMovesToTheEnd() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.beginFeed(epoch)
        try history.record(batch(chunks(from: 0, count: 100) { _ in 10 }, counters: [reading(second: 50, 5)]))
        let first = try changes(history)
        #expect(first.counters == [CounterValue(plug: lamp, at: midnight + 50_000, milliwattHours: 5)])
        #expect(try !history.hasChanges(after: first.through))
        // The chunk is longer, and the last entry of each step has changed.
        try history.record(batch(chunks(from: 0, count: 200) { _ in 10 }))
        let second = try changes(history, after: first.through)
        #expect(second.chunks.map(\.stored.chunk.count) == [200] && second.rollUps.count == 4)
        #expect(second.names.isEmpty && second.counters.isEmpty && second.isAll)
        // A receiver that starts from the beginning gets each chunk, roll-up and counter once, in its current state.
        let all = try changes(history)
        #expect(
            all.chunks.count == 1 && all.rollUps.count == 4 && all.counters.count == 1 && all.through == second.through)
        // Recording the same batch again is not a change.
        try history.record(batch(chunks(from: 0, count: 200) { _ in 10 }))
        #expect(try !history.hasChanges(after: second.through))
    }

    @Test("A part of the feed ends when its limit of changes or of samples is reached")
    func partsEndWhereTheyAreFull() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.beginFeed(epoch)
        for plug in [lamp, fridge] {
            try history.record(batch(chunks(of: plug, from: 0, count: 20_000) { $0 % 7 }))
        }
        let whole = try changes(history)
        var (number, seen, samples) = (Int64(0), 0, 0)
        while true {
            let part = try changes(history, after: number, atMost: 3, sampleLimit: 5000)
            #expect(part.through > number)
            seen += part.chunks.count + part.rollUps.count + part.names.count
            samples += part.samples.values.reduce(0) { $0 + $1.count }
            number = part.through
            if part.isAll { break }
        }
        #expect(number == whole.through && samples == 40_000)
        #expect(seen == whole.chunks.count + whole.rollUps.count + whole.names.count)
    }

    @Test("Deletion by age is not a change") func whatWasForgottenByAgeIsNoChange() throws {
        let history = try PowerHistory(
            directory.path, role: .recorder, retention: HistoryRetention(sampleDays: 1, minuteDays: 1, traceDays: nil))
        try history.beginFeed(epoch)
        for day in 0..<4 { try history.record(batch(chunks(from: day * 86_400, count: 3600) { _ in 10 })) }
        let all = try changes(history)
        for _ in 0..<20 { try history.forgetOld(now: midnight + 4 * 86_400_000) }
        #expect(try !history.hasChanges(after: all.through))
        let left = try changes(history)
        #expect(left.chunks.count < all.chunks.count)
        let minutes = left.rollUps.filter { $0.step == .minute }
        #expect(
            minutes.allSatisfy { !$0.rows.isEmpty } && minutes.count < all.rollUps.filter { $0.step == .minute }.count)
        #expect(try #require(left.samplesFrom[lamp]) > midnight)
    }

    @Test("If a boot moves on the wall clock, all its chunks are reported as changed")
    func aBootThatMovesIsAChangeOfItsChunks() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.beginFeed(epoch)
        try history.record(batch(chunks(from: 0, count: 100) { _ in 10 }))
        let before = try changes(history)
        let hour: Int64 = 3_600_000
        try history.record(batch(chunks(origin: midnight + hour, from: 5000, count: 10) { _ in 20 }))
        let moved = try changes(history, after: before.through)
        #expect(moved.chunks.map(\.since) == [midnight + hour, midnight + hour + 5_000_000])
        #expect(moved.rollUps.filter { $0.step == .minute }.flatMap(\.rows).map(\.start).min() == midnight + hour)
        let asked = try history.changes(
            after: before.through, atMost: 100, sampleLimit: .max, samples: true,
            besides: [lamp: [midnight...midnight + 10]])
        #expect(asked.samples[lamp]?.first?.at == midnight + hour)
    }

    @Test("A position is valid in the history that assigned it and in copies of the history that were made later")
    func aPositionCountsOnlyInTheHistoryThatGaveIt() throws {
        let (one, copy) = (directory.path + "/one", directory.path + "/copy")
        let history = try PowerHistory(one, role: .recorder)
        try history.beginFeed(epoch)
        try history.record(batch(chunks(from: 0, count: 100) { _ in 10 }))
        let early = FeedPosition(epoch: epoch, number: try changes(history).through)
        #expect(try history.number(after: early) == early.number)
        // A later process begins a new epoch, and the process of a copied directory begins another one.
        let copied = try PowerHistory(copy, role: .recorder)
        try history.queue.backup(to: copied.queue)
        let (later, other) = ([UInt8](repeating: 8, count: 16), [UInt8](repeating: 9, count: 16))
        try history.beginFeed(later)
        try copied.beginFeed(other)
        for one in [history, copied] { try one.record(batch(chunks(from: 1000, count: 100) { _ in 10 })) }
        let late = FeedPosition(epoch: later, number: try changes(history).through)
        #expect(try history.number(after: late) == late.number && copied.number(after: late) == 0)
        #expect(try history.number(after: early) == early.number && copied.number(after: early) == early.number)
        // The number is beyond the end of the earlier epoch, so the feed starts from the beginning.
        #expect(try history.number(after: FeedPosition(epoch: epoch, number: late.number)) == 0)
        #expect(try history.number(after: FeedPosition(epoch: later, number: -1)) == 0)
        #expect(try history.number(after: FeedPosition(epoch: later, number: early.number)) == early.number)
    }

    @Test("The number of stored epochs is limited") func epochsAreLimited() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        for number in 0..<PowerHistory.epochLimit + 5 {
            try history.beginFeed((0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 8)) ^ UInt8($0) })
        }
        let count = try history.queue.read { try Int64.fetchOne($0, sql: "SELECT count(*) FROM epoch") }
        #expect(count == PowerHistory.epochLimit)
    }
}
