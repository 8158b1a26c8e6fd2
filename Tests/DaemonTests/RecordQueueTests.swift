import LinuxSystem
import Metering
import PlugClient
import PlugModel
import PowerHistory
import ProtocolCore
import Testing

@testable import Daemon

private let plug = PlugID(rawValue: "000000000001")!
private let boot = BootID(bytes: [UInt8](repeating: 1, count: 16))!

@Suite struct RecordQueueTests {
    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    private func counter(_ number: UInt64) -> CounterReading {
        CounterReading(plug: plug, boot: boot, origin: 0, milliseconds: Int64(number), milliwattHours: number)
    }

    private func answer(_ seconds: ClosedRange<Int64>, asked: Int64 = 100_000) -> BackfillResult {
        let window = BackfillPlan.Window(plug: plug, boot: boot, range: 0...50_000)
        return BackfillResult(window, .made(seconds, asked: asked))
    }

    @Test("Changes within 250 ms share one transaction, and only one write runs at a time")
    func whatComesWithinAMomentIsOneTransaction() {
        var queue = RecordQueue()
        queue.add(now: at(0)) { $0.counters.append(counter(1)) }
        queue.add(now: at(200)) { $0.counters.append(counter(2)) }
        #expect(queue.begin(now: at(249)) == nil)
        #expect(queue.begin(now: at(250))?.counters == [counter(1), counter(2)])
        queue.add(now: at(260)) { $0.counters.append(counter(3)) }
        #expect(queue.begin(now: at(900)) == nil, "a second write began during the first one")
        #expect(queue.ended(stored: true, now: at(900)).isEmpty)
        #expect(queue.begin(now: at(900))?.counters == [counter(3)])
        #expect(queue.ended(stored: true, now: at(901)).isEmpty && queue.isEmpty)
    }

    @Test("A window is written with its span, and is dropped if the write fails")
    func aPieceIsStoredWithItsSpanOrGivenUp() {
        var queue = RecordQueue()
        queue.add(answer(0...60), now: at(0))
        let batch = queue.begin(now: at(250))
        #expect(batch?.chunks.count == 1 && batch?.fetched.map(\.span) == [0...60_000])
        #expect(queue.ended(stored: false, now: at(250)).map(\.window.range) == [0...50_000])
        queue.add(now: at(300)) { $0.counters.append(counter(1)) }
        #expect(queue.nextDeadline == at(1250))
        #expect(queue.begin(now: at(1250))?.chunks.isEmpty == true)
    }

    @Test("Events that cannot be written stay in order and are retried with growing delays")
    func whatCannotBeWrittenWaitsInItsOrderAndIsTriedLaterAndLater() {
        var queue = RecordQueue()
        var now = at(0)
        var pauses: [Int64] = []
        for number in 1...9 as ClosedRange<UInt64> {
            queue.add(now: now) { $0.counters.append(counter(number)) }
            let next = queue.nextDeadline!
            pauses.append((next - now).components.seconds)
            now = next
            #expect(queue.begin(now: now)?.counters == (1...number).map(counter))
            _ = queue.ended(stored: false, now: now)
            #expect(queue.isFailing)
        }
        #expect(pauses == [0, 1, 2, 4, 8, 10, 10, 10, 10])
        now = queue.nextDeadline!
        #expect(queue.begin(now: now)?.counters.count == 9)
        _ = queue.ended(stored: true, now: now)
        #expect(queue.isEmpty && !queue.isFailing)
    }

    @Test("A full queue accepts nothing until a write succeeds") func thereIsRoomForSoManyAndNoMore() {
        var queue = RecordQueue()
        for number in 0..<UInt64(RecordQueue.limit) {
            #expect(queue.add(now: at(0)) { $0.counters.append(counter(number)) })
        }
        #expect(queue.begin(now: at(250)) != nil)
        #expect(!queue.add(now: at(300)) { $0.counters.append(counter(7)) })
        _ = queue.ended(stored: true, now: at(300))
        #expect(queue.add(now: at(300)) { $0.counters.append(counter(7)) })
    }
}

@Suite struct WindowAnswerTests {
    private func answer(_ range: ClosedRange<Int64>, _ chunks: FetchedChunks) -> BackfillResult {
        BackfillResult(BackfillPlan.Window(plug: plug, boot: boot, range: range), chunks)
    }

    @Test("The fetched span of an old window covers the window and its chunks")
    func aPieceOfLongAgoIsFetchedAsFarAsItsChunksReach() {
        let found = answer(100_000...200_000, .made(50...250, asked: 1_000_000))
        #expect(found.fetched?.span == 50_000...250_000 && found.covered == 50_000...250_000)
        #expect(answer(100_000...200_000, .made(120...150, asked: 1_000_000)).fetched?.span == 100_000...200_000)
    }

    @Test("The fetched span of the newest window ends at the last sample, or 30 s before the request if that is later")
    func theNewestEndIsTheLastSample() {
        #expect(answer(0...100_000, .made(0...98, asked: 100_000)).fetched?.span == 0...98_000)
        // A plug stores a sample within 30 s, so the span without samples ends 30 s before the request.
        #expect(answer(0...100_000, .made(0...40, asked: 100_000)).fetched?.span == 0...70_000)
    }

    @Test("A range without samples is not requested again, except for the last 30 seconds")
    func whereThePlugHasNothingThereIsNothingToAskForAgain() {
        let found = answer(0...100_000, FetchedChunks.made(nil, asked: 1_000_000))
        #expect(found.fetched?.span == 0...100_000 && found.covered == nil && found.chunks.isEmpty)
        #expect(answer(90_000...100_000, FetchedChunks.made(nil, asked: 100_000)).fetched == nil)
    }

    @Test("Chunks outside of the window or newer than the request are dropped") func whatWasNotAskedForIsNotTaken() {
        #expect(answer(0...10_000, .made(50...60, asked: 100_000)).chunks.isEmpty)
        #expect(
            answer(0...10_000_000, .made(5...9000, asked: 10_000)).chunks.isEmpty,
            "chunks newer than the request must be dropped")
    }
}

@Suite struct CounterCourseTests {
    private func reading(_ seconds: Int64) -> Reading {
        Reading(time: .zero + .seconds(seconds), deciwatts: 0, milliwattHours: UInt64(seconds))
    }

    @Test("The first reading and one reading per quarter of an hour are stored")
    func oneIsKeptAtTheBeginningAndOneEachQuarter() {
        var course = CounterSampler()
        let kept = stride(from: Int64(100), to: 2800, by: 1).compactMap {
            course.add(reading($0), of: plug, boot: boot, at: $0 * 1000)?.milliwattHours
        }
        #expect(kept == [100, 900, 1800, 2700])
    }

    @Test("The newest unrecorded reading is returned only once") func withARecordingTheNewestIsKeptOnce() {
        var course = CounterSampler()
        #expect(course.unrecorded() == nil)
        _ = course.add(reading(100), of: plug, boot: boot, at: 100_000)
        _ = course.add(reading(105), of: plug, boot: boot, at: 105_000)
        #expect(course.unrecorded()?.milliwattHours == 105)
        #expect(course.unrecorded() == nil)
    }
}

extension FetchedChunks {
    /// Creates chunks with a sample for each second; nil for none.
    static func made(_ seconds: ClosedRange<Int64>?, asked: Int64, boot: BootID = boot) -> FetchedChunks {
        var encoder = SampleChunkEncoder()
        var chunks: [SampleChunk] = []
        for second in seconds.map(Array.init) ?? [] {
            if let chunk = encoder.append(Sample(milliseconds: second * 1000, deciwatts: 100)) { chunks.append(chunk) }
        }
        if let last = encoder.seal() { chunks.append(last) }
        let clock = ClockMapping(boot: boot, plugTime: .zero, asked: .zero, answered: .zero)
        return FetchedChunks(
            chunks: chunks, clock: clock, origin: WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000),
            asked: asked)
    }
}
