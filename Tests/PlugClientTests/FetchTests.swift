import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import PlugClient

/// Fetches samples over connections that break. The plug's clock equals the controller's clock.
@Suite struct FetchTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    /// Returns a bench whose plug has one sample for each of the seconds before now. A chunk holds at most 4096
    /// samples.
    private func bench(seconds: Int64) -> FollowedBench {
        var bench = FollowedBench(cursor: nil, states: nil)
        for second in 0..<seconds { bench.store.append(Sample(milliseconds: second * 1000, deciwatts: Int32(second))) }
        bench.now = at(seconds)
        return bench
    }

    private func heard(_ bench: FollowedBench, _ fetch: UInt32) throws -> [Int64] {
        try bench.samples.filter { $0.fetch == fetch && !$0.chunk.isEmpty }
            .flatMap { try SampleChunk(bytes: $0.chunk).samples() }.map { $0.milliseconds / 1000 }
    }

    @Test("A range arrives in chunks, and the last chunk is marked")
    func aRangeComesInChunksOfWhichTheLastSaysSo() throws {
        var bench = bench(seconds: 10_000)
        bench.locateAndConnect()
        bench.feed(.fetch(1, from: at(0), to: at(10_000)))
        #expect(try heard(bench, 1) == Array(0..<10_000))
        #expect(bench.samples.map(\.last) == [false, false, true])
    }

    @Test("A fetch before the connection waits for the connection")
    func oneGivenBeforeTheConnectionWaitsForIt() throws {
        var bench = bench(seconds: 10)
        bench.feed(.fetch(1, from: at(3), to: at(5)))
        #expect(bench.samples.isEmpty)
        bench.locateAndConnect()
        #expect(bench.samples.map(\.last) == [true])
    }

    @Test("A range without samples is answered with one empty part") func whereThePlugHasNothingThePartIsEmpty() {
        var bench = bench(seconds: 10)
        bench.locateAndConnect()
        bench.feed(.fetch(1, from: at(20), to: at(30)))
        #expect(bench.samples.count == 1 && bench.samples[0].chunk.isEmpty && bench.samples[0].last)
    }

    @Test("After a disconnection, the fetch resumes after the last chunk")
    func afterABreakItGoesOnBehindTheLastChunk() throws {
        var bench = bench(seconds: 10_000)
        bench.locateAndConnect()
        bench.breakAfterChunks = 1
        bench.feed(.fetch(1, from: at(0), to: at(10_000)))
        #expect(bench.samples.count == 1)
        bench.locateAndConnect()
        #expect(try heard(bench, 1) == Array(0..<10_000))
        #expect(bench.samples.filter(\.last).count == 1)
    }

    @Test("A withdrawn fetch is not sent and does not count towards the limit of fetches")
    func whatNobodyWaitsForIsNotAskedAgainAndKeepsNoPlace() {
        var bench = bench(seconds: 10)
        for fetch in 0..<40 {
            bench.feed(.fetch(UInt32(fetch), from: at(0), to: at(10)))
            bench.feed(.withdrawFetch(UInt32(fetch)))
        }
        bench.locateAndConnect()
        #expect(bench.samples.isEmpty && bench.refusedFetches.isEmpty)
    }

    @Test("The seventeenth concurrent fetch is refused") func theSeventeenthAtATimeIsRefused() {
        var bench = bench(seconds: 10)
        for fetch in 1...17 as ClosedRange<UInt32> { bench.feed(.fetch(fetch, from: at(0), to: at(10))) }
        #expect(bench.refusedFetches == [17: Refusal(.busy, "16 fetches are already waiting for this plug")])
        bench.locateAndConnect()
        #expect(bench.samples.map(\.fetch) == Array(1...16))
    }

    @Test("A fetch of one boot uses the plug's clock and resumes after a disconnection")
    func ofOneBootItIsAskedByThePlugsOwnClock() throws {
        var bench = bench(seconds: 10_000)
        bench.locateAndConnect()
        bench.feed(.fetchBoot(1, boot, 4_000_000...9_999_000))
        let heard = try heard(bench, 1)
        #expect(heard.first == 0 && heard.last == 9999 && bench.samples.map(\.last) == [false, false, true])
        bench.breakAfterChunks = 1
        bench.feed(.fetchBoot(2, boot, 0...9_999_000))
        bench.locateAndConnect()
        #expect(try self.heard(bench, 2) == Array(0..<10_000))
    }

    @Test("A fetch of an earlier boot is refused, both during a connection and after waiting for one")
    func ofABootThatIsOverItIsRefusedNowAndAtTheNextConnection() {
        var bench = bench(seconds: 10)
        let other = BootID(bytes: [UInt8](repeating: 8, count: 16))!
        bench.feed(.fetchBoot(1, other, 0...9000))
        bench.feed(.fetch(2, from: at(0), to: at(10)))
        bench.locateAndConnect()
        bench.feed(.fetchBoot(3, other, 0...9000))
        #expect(bench.refusedFetches.keys.sorted() == [1, 3] && bench.refusedFetches[1]?.code == .outOfRange)
        #expect(bench.samples.map(\.fetch) == [2])
    }

    @Test("A fetch after the stop is refused") func afterTheStopAFetchIsRefused() {
        var bench = bench(seconds: 10)
        bench.locateAndConnect()
        bench.feed(.stop)
        bench.feed(.fetch(1, from: at(0), to: at(10)))
        #expect(bench.refusedFetches == [1: Refusal(.deadlinePassed, "the plug is no longer followed")])
    }

    // MARK: Assembly of chunks

    private let clock = ClockMapping(
        boot: boot, plugTime: .zero, asked: Instant(nanoseconds: 0), answered: Instant(nanoseconds: 0))

    private func chunk(_ seconds: ClosedRange<Int64>) -> [UInt8] {
        var encoder = SampleChunkEncoder()
        for second in seconds { _ = encoder.append(Sample(milliseconds: second * 1000, deciwatts: 0)) }
        return encoder.seal()!.bytes
    }

    private func take(_ parts: [[UInt8]], into fetch: inout some FetchInProgress) {
        do {
            for (index, part) in parts.enumerated()
            where try fetch.receive(part, of: clock, last: index == parts.count - 1) { fetch.succeed() }
        } catch {
            fetch.fail(error)
        }
    }

    private func chunks(_ parts: [[UInt8]]) async throws -> [Int] {
        let outcome = await withCheckedContinuation { continuation in
            var fetch = ChunksInProgress(continuation)
            take(parts, into: &fetch)
        }
        return try outcome.get().map(\.count)
    }

    private func outcome(_ parts: [[UInt8]], from: Int64, to: Int64) async throws -> [Int64] {
        let outcome = await withCheckedContinuation { continuation in
            var fetch = SamplesInProgress(
                continuation, origin: .init(nanosecondsSince1970: 0), range: at(from)...at(to))
            take(parts, into: &fetch)
        }
        return try outcome.get().map { $0.at.nanosecondsSince1970 / 1_000_000_000 }
    }

    @Test("Samples are cut to the requested range") func chunksAreWholeAndTheRangeIsCutOutOfThem() async throws {
        #expect(try await outcome([chunk(0...9), chunk(10...19)], from: 5, to: 12) == Array(5...12))
    }

    @Test("An open chunk that is received again with more samples repeats no sample")
    func anOpenChunkThatCameAgainAndHasGrownRepeatsNothing() async throws {
        #expect(try await outcome([chunk(0...9), chunk(0...14)], from: 0, to: 100) == Array(0...14))
    }

    @Test("Raw chunks stay whole, and a chunk that has grown replaces its earlier version")
    func rawChunksStayWholeAndOneThatHasGrownTakesTheOthersPlace() async throws {
        #expect(try await chunks([chunk(0...9), chunk(10...19), chunk(10...25)]) == [10, 16])
        #expect(try await chunks([[]]).isEmpty)
        await #expect(throws: SampleChunkError.self) { try await chunks([[1, 2, 3]]) }
    }

    @Test("A fetch that exceeds the size limit fails") func aPlugThatNeverEndsIsStopped() async {
        let whole = (0..<70).map { chunk(Int64($0)...Int64($0)) + [UInt8](repeating: 0, count: 1 << 17) }
        await #expect(throws: Refusal.self) { try await chunks(whole) }
    }

    @Test("A damaged chunk fails the fetch") func aDamagedChunkIsAnError() async {
        await #expect(throws: SampleChunkError.self) { try await outcome([[1, 2, 3]], from: 0, to: 1) }
    }
}
