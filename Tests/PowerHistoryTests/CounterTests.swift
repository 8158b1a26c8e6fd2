import HouseCalendar
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

/// Tests that the energy in the history equals that of the plug's counter, at whatever moments the counter is read.
@Suite struct CounterTests {
    /// A plug's samples, and its energy counter at each sample.
    private struct Course {
        var samples: [Sample] = []
        var counted: [UInt64] = []

        /// An hour and a half of an appliance that switches at random. The time between two samples is drawn once, and
        /// is then the same for all samples.
        init(_ random: inout SeededRandom) {
            let pace = Int64.random(in: 250...15_000, using: &random)
            var counter = EnergyCounter(milliwattHours: UInt64.random(in: 0...900_000, using: &random))
            var deciwatts = Int32.random(in: 0...20_000, using: &random)
            var time = Int64.random(in: 0...120_000, using: &random)
            var switches = time + Int64.random(in: 0...60_000, using: &random)
            while time < 5_400_000 {
                if time >= switches {
                    deciwatts = deciwatts > 500 ? Int32.random(in: 0...500, using: &random) : 20_000
                    switches = time + Int64.random(in: 10_000...1_200_000, using: &random)
                }
                samples.append(Sample(milliseconds: time, deciwatts: deciwatts))
                counter.add(deciwatts: deciwatts, at: Instant(nanoseconds: time * 1_000_000))
                counted.append(counter.milliwattHours)
                time += pace
            }
        }

        func reading(_ index: Int, less: UInt64 = 0) -> CounterReading {
            CounterReading(
                plug: lamp, boot: firstBoot, origin: midnight, milliseconds: samples[index].milliseconds,
                milliwattHours: counted[index] - less)
        }

        var chunks: [StoredChunk] {
            var encoder = SampleChunkEncoder()
            var chunks = encoder.append(contentsOf: samples)
            if let last = encoder.seal() { chunks.append(last) }
            return chunks.map { StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: $0) }
        }
    }

    private func history(_ batch: HistoryBatch) throws -> (PowerHistory, TestFolder) {
        let directory = TestFolder(on: .memory)
        let history = try PowerHistory(directory.path, role: .recorder)
        try history.record(batch)
        return (history, directory)
    }

    private func energy(of history: PowerHistory, upTo latest: CounterReading? = nil) throws -> Double {
        let start = Int(midnight / 1000)
        let periods = try #require(CalendarPeriod.all(.quarter, from: start, to: start + 7200, zone: .utc))
        return try history.energy(of: lamp, periods: periods, upTo: latest).reduce(0) { $0 + $1.milliwattHours }
    }

    @Test("The energy of the history equals that of the plug's counter", arguments: 0..<60)
    func theHistoryHasWhatTheCounterHas(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let course = Course(&random)
        let last = course.samples.count - 1
        let count = Int.random(in: 1...6, using: &random)
        let read = Set((0..<count).map { _ in Int.random(in: 0...last, using: &random) }).sorted()
        let (history, directory) = try history(batch(course.chunks, counters: read.map { course.reading($0) }))
        defer { withExtendedLifetime(directory) {} }
        // Before the first reading and after the last one the energy comes from the samples, as in the counter itself.
        let counted = Double(course.counted[last] - course.counted[0])
        #expect(abs(try energy(of: history) - counted) < 4, "read at \(read.map { course.samples[$0].milliseconds })")
    }

    @Test(
        "Up to a reading that is not stored, the energy is that of the counter, and never decreases", arguments: 0..<30)
    func theLatestReadingCounts(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let course = Course(&random)
        let last = course.samples.count - 1
        let stored = Int.random(in: 0...last, using: &random)
        // The history has no sample that is newer than the plug's latest reading, and older samples may be missing.
        let newest = course.samples[stored].milliseconds
        let chunks = course.chunks.filter { $0.chunk.lastMilliseconds <= newest && Bool.random(using: &random) }
        let (history, directory) = try history(
            batch(chunks, counters: [course.reading(0), course.reading(stored)]))
        defer { withExtendedLifetime(directory) {} }
        var before = 0.0
        for index in stride(from: stored + 1, through: last, by: max(1, last / 20)) {
            let energy = try energy(of: history, upTo: course.reading(index))
            let counted = Double(course.counted[index] - course.counted[0])
            #expect(abs(energy - counted) < 4, "stored \(stored), latest \(index)")
            #expect(energy >= before - 0.01)
            before = energy
        }
        // An older reading, and one of a counter that fell, change nothing.
        let kept = try energy(of: history)
        #expect(try energy(of: history, upTo: course.reading(max(0, stored - 1))) == kept)
        if course.counted[stored] > 0, stored < last {
            #expect(try energy(of: history, upTo: course.reading(last, less: course.counted[last])) == kept)
        }
    }

    @Test("Between two readings of which the second is lower, the energy is that of the samples", arguments: 0..<30)
    func whatFlowedWhileACounterFellIsWhatTheSamplesShow(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let course = Course(&random)
        let last = course.samples.count - 1
        let read = Set((0..<6).map { _ in Int.random(in: 0...last, using: &random) }).sorted()
        let fell = Int.random(in: 0..<read.count, using: &random)
        let loss = course.counted[read[fell]]
        let readings = read.enumerated().map { course.reading($1, less: $0 < fell ? 0 : loss) }
        let (history, directory) = try history(batch(course.chunks, counters: readings))
        defer { withExtendedLifetime(directory) {} }
        let counted = Double(course.counted[last] - course.counted[0])
        #expect(abs(try energy(of: history) - counted) < 6, "read at \(read), fell before the \(fell)th")
    }

    @Test("The minute with the first reading is divided at the reading, so that no energy counts twice")
    func aStepInTheMinuteOfTheFirstReadingIsSharedOutBySamples() throws {
        let on = chunks(from: 0, count: 3600) { $0 < 630 ? 0 : 20_000 }
        // The first reading is zero, ten seconds before 2 kW are switched on.
        let (history, directory) = try history(
            batch(on, counters: [reading(second: 620, 0), reading(second: 3599, 1_649_000)]))
        defer { withExtendedLifetime(directory) {} }
        #expect(abs(try energy(of: history) - 1_649_000) < 1)
    }

    @Test("The order in which chunks and readings arrive does not change the stored history", arguments: 0..<20)
    func theOrderOfArrivalDoesNotMatterToIt(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let course = Course(&random)
        let last = course.samples.count - 1
        let readings = (0..<5).map { _ in course.reading(Int.random(in: 0...last, using: &random)) }
        var pieces = course.chunks.map { batch([$0]) } + readings.map { batch([], counters: [$0]) }
        let (together, kept) = try history(batch(course.chunks, counters: readings))
        pieces.shuffle(using: &random)
        let (single, alsoKept) = try history(HistoryBatch())
        for piece in pieces { try single.record(piece) }
        defer { withExtendedLifetime((kept, alsoKept)) {} }
        #expect(try single.content() == together.content())
    }
}
