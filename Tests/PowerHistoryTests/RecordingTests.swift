import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct RecordingTests {
    private let directory: TestFolder
    private let history: PowerHistory

    init() throws {
        directory = TestFolder(on: .memory)
        history = try PowerHistory(directory.path, role: .recorder)
    }

    @Test("Samples are read back at their wall times") func samplesComeBackAsTheyWereOnTheWallClock() throws {
        try history.record(batch(chunks(from: 10, count: 5000) { $0 % 700 }))
        var read: [(Int64, Int32)] = []
        let damaged = try history.samples(of: lamp, from: midnight + 20_000, to: midnight + 30_000) {
            read.append(($0, $1.deciwatts))
        }
        #expect(damaged.isEmpty)
        #expect(read.map(\.0) == (20...30).map { midnight + $0 * 1000 })
        #expect(read.map(\.1) == Array(20...30))
        #expect(try history.times().count == 5000)
        #expect(try history.times(of: fridge).isEmpty)
    }

    @Test("A longer version of an open chunk replaces it and keeps its times on the wall clock")
    func aLongerVersionOfAnOpenChunkReplacesItWhereItLies() throws {
        for count in [100, 700, 300] {
            // The origin differs slightly each time. The stored chunk does not move.
            try history.record(batch(chunks(origin: midnight + Int64(count), from: 0, count: count) { $0 }))
        }
        #expect(try history.times() == (0..<700).map { midnight + 100 + $0 * 1000 })
        let minutes = try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
        #expect(minutes.count == 12)
        #expect(minutes[5].coveredMilliseconds == 60_000)
    }

    @Test("The order in which batches arrive does not change the stored history", arguments: 0..<6)
    func theOrderOfArrivalDoesNotMatter(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var pieces: [HistoryBatch] = []
        for (boot, origin, start) in [(firstBoot, midnight, 0), (secondBoot, midnight + 20_000_000, 40)] {
            for part in 0..<5 {
                let first = start + part * 2000 + (part > 2 ? 900 : 0)
                for count in [700, 1900] {
                    pieces.append(
                        batch(chunks(boot: boot, origin: origin, from: first, count: count) { ($0 * 37) % 4000 }))
                }
            }
        }
        for second in stride(from: 100, to: 12_000, by: 890) {
            let counted = UInt64(second) * (second > 8000 ? 40 : 60)
            pieces.append(batch([], counters: [reading(second: second, counted)]))
        }
        for piece in pieces { try history.record(piece) }
        let other = TestFolder(on: .memory)
        let shuffled = try PowerHistory(other.path, role: .recorder)
        pieces.shuffle(using: &random)
        // Some batches are joined, others are stored one by one.
        while !pieces.isEmpty {
            var together = HistoryBatch()
            for piece in pieces.suffix(Int.random(in: 1...4, using: &random)) {
                together.chunks += piece.chunks
                together.counters += piece.counters
                pieces.removeLast()
            }
            try shuffled.record(together)
        }
        #expect(try shuffled.content() == history.content())
        #expect(try history.content().count > 20)
    }

    @Test("If the wall clock was set, all data of the boot moves to the new times")
    func aClockThatWasSetMovesAllOfItsBoot() throws {
        let year: Int64 = 365 * 86_400_000
        try history.record(batch(chunks(from: 0, count: 3000) { _ in 500 }, counters: [reading(second: 3000, 41_000)]))
        try history.record(batch(chunks(boot: secondBoot, from: 9000, count: 100) { _ in 70 }))
        try history.record(batch(chunks(origin: midnight + year, from: 5000, count: 100) { _ in 500 }))
        let moved = (0..<3000).map { midnight + year + $0 * 1000 } + (5000..<5100).map { midnight + year + $0 * 1000 }
        #expect(try history.times() == (9000..<9100).map { midnight + $0 * 1000 } + moved)
        // The database is the same as if the clock had always been right.
        let other = TestFolder(on: .memory)
        let right = try PowerHistory(other.path, role: .recorder)
        try right.record(
            batch(
                chunks(origin: midnight + year, from: 0, count: 3000) { _ in 500 },
                counters: [reading(origin: midnight + year, second: 3000, 41_000)]))
        try right.record(batch(chunks(boot: secondBoot, from: 9000, count: 100) { _ in 70 }))
        try right.record(batch(chunks(origin: midnight + year, from: 5000, count: 100) { _ in 500 }))
        #expect(try history.content() == right.content())
    }

    @Test("A version of a chunk with more samples that ends earlier replaces the longer one")
    func aVersionWithMoreSamplesThatEndsEarlierCutsTheRestOff() throws {
        var encoder = SampleChunkEncoder()
        for milliseconds in [0, 20_000, 1_000_000] as [Int64] {
            _ = encoder.append(Sample(milliseconds: milliseconds, deciwatts: 700))
        }
        let sealed = encoder.seal()
        let long = StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: try #require(sealed))
        let dense = chunks(from: 0, count: 100) { _ in 500 }
        try history.record(batch([long]))
        try history.record(batch(dense))
        #expect(try history.times().last == midnight + 99_000)
        let other = TestFolder(on: .memory)
        let right = try PowerHistory(other.path, role: .recorder)
        try right.record(batch(dense))
        #expect(
            try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
                == right.summaries(of: lamp, step: .minute, from: 0, to: .max))
    }

    @Test("A read of a part of a span returns the same samples as a read of the whole span")
    func aPartReadsAsItDoesInTheWhole() throws {
        // One chunk has a sample before a gap and a sample after it. The samples of a different boot begin in the gap
        // and end after the chunk.
        let edges = [chunks(from: 0, count: 1) { _ in 10 }, chunks(from: 600, count: 1) { _ in 10 }]
        var encoder = SampleChunkEncoder()
        for stored in edges.joined() {
            for sample in try stored.chunk.samples() { _ = encoder.append(sample) }
        }
        let sealed = encoder.seal()
        let wide = StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: try #require(sealed))
        try history.record(batch([wide] + chunks(boot: secondBoot, from: 300, count: 600) { _ in 20 }))
        let whole = try history.times()
        #expect(whole.count == 2 + 299)
        for (from, to) in [(0, 299), (299, 400), (400, 650), (601, 900)] {
            let span = midnight + Int64(from) * 1000...midnight + Int64(to) * 1000
            #expect(try history.times(from: span.lowerBound, to: span.upperBound) == whole.filter(span.contains))
        }
    }

    @Test("A drift between the clocks does not move a boot on the wall clock")
    func clocksThatDriftApartWereNotSet() throws {
        try history.record(batch(chunks(from: 0, count: 10) { _ in 1 }))
        // One hundred days later, with a drift of a minute and a half.
        try history.record(batch(chunks(origin: midnight + 90_000, from: 8_640_000, count: 10) { _ in 1 }))
        #expect(try history.times().first == midnight)
    }

    @Test("Invalid samples are left out and reported") func samplesThatCannotBeRightAreLeftOutAndSaid() throws {
        let complaints = Complaints()
        let other = TestFolder(on: .memory)
        let history = try PowerHistory(other.path, role: .recorder) { complaints.take($0) }
        var broken = try #require(chunks(from: 0, count: 50) { $0 }.first?.chunk.bytes)
        broken[broken.count - 1] ^= 0xFF
        broken.append(7)
        let far = chunks(origin: .max - 5, from: 0, count: 3) { $0 }
        let bad = StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: try SampleChunk(bytes: broken))
        try history.record(batch(far + [bad]))
        #expect(try history.times().isEmpty)
        #expect(complaints.all.count == 2)
        #expect(complaints.all.allSatisfy { $0.contains(lamp.rawValue) && $0.contains("hint:") })
    }

    @Test("A span that was fetched is not listed as missing") func whatWasFetchedIsNotMissing() throws {
        #expect(try history.missing(of: lamp, boot: firstBoot, through: 1000) == [0...1000])
        var batch = HistoryBatch()
        for span in [200...299, 300...399, 600...700, 650...720] as [ClosedRange<Int64>] {
            batch.fetched.append(FetchedSpan(plug: lamp, boot: firstBoot, span: span))
        }
        try history.record(batch)
        #expect(try history.missing(of: lamp, boot: firstBoot, through: 1000) == [721...1000, 400...599, 0...199])
        #expect(try history.missing(of: lamp, boot: firstBoot, through: 650) == [400...599, 0...199])
        #expect(try history.missing(of: lamp, boot: firstBoot, through: 250) == [0...199])
        #expect(try history.missing(of: lamp, boot: secondBoot, through: 10) == [0...10])
        #expect(try history.missing(of: fridge, boot: firstBoot, through: 10) == [0...10])
        // A boot with only fetched spans gets its place on the wall clock with its first samples.
        try history.record(PowerHistoryTests.batch(chunks(from: 0, count: 3) { $0 }))
        #expect(try history.times().count == 3)
    }
}
