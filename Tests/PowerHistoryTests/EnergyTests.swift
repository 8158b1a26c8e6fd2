import HouseCalendar
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PowerHistory

/// Tests of the energy in the history when the plug's counter and its samples disagree.
@Suite struct EnergyTests {
    private let directory: TestFolder
    private let history: PowerHistory
    private let start = Int(midnight / 1000)

    init() throws {
        directory = TestFolder(on: .memory)
        history = try PowerHistory(directory.path, role: .recorder)
    }

    private func quarters(_ count: Int) throws -> [Int] {
        let end = start + count * 900
        let periods = try #require(CalendarPeriod.all(.quarter, from: start, to: end, zone: .utc))
        return try history.energy(of: lamp, periods: periods).map { Int($0.milliwattHours.rounded()) }
    }

    @Test("Energy that is fed back counts as zero") func whatIsFedBackCountsAsNone() throws {
        // 1000 Wh are drawn and 999 Wh are fed back. The counter rises only by the drawn energy.
        try history.record(
            batch(
                chunks(from: 0, count: 7201) { $0 < 3600 ? 10_000 : -9_990 },
                counters: [reading(second: 0, 0), reading(second: 7200, 1_000_000)]))
        let energies = try quarters(8)
        #expect(energies[..<4].allSatisfy { abs($0 - 250_000) < 300 })
        #expect(energies[4...].allSatisfy { (0...300).contains($0) })
    }

    @Test("A counter that rises by more than a plug can carry is ignored")
    func aCounterThatRoseByMoreThanAPlugCarriesIsNotBelieved() throws {
        let most: UInt64 = 1 << 52
        let readings = (0..<6).map { reading(second: $0 * 150, $0 % 2 == 0 ? 0 : most) }
        try history.record(batch(chunks(from: 0, count: 901) { _ in 3600 }, counters: readings))
        #expect(try quarters(1) == [90_000])
        #expect(try history.summaries(of: lamp, step: .day, from: 0, to: .max).map(\.greatest) == [360])
    }

    @Test("Samples with extreme power do not overflow") func samplesBeyondAllMeasureDoNotHarm() throws {
        for (boot, deciwatts) in [(firstBoot, Int(Int32.max)), (secondBoot, Int(Int32.min))] {
            let first = boot == firstBoot ? 0 : 86_400
            try history.record(batch(chunks(boot: boot, from: first, count: 86_400) { _ in deciwatts }))
        }
        let days = try history.summaries(of: lamp, step: .day, from: 0, to: .max)
        #expect(days.map(\.least) == [Double(Int32.max) / 10, Double(Int32.min) / 10])
    }

    @Test(
        "After a restart with an older counter value, the energy is at least that of the samples",
        arguments: [(900_000, 360_000), (1_100_000, 460_000)] as [(UInt64, Int)])
    func overARestartTheCounterMayHaveGoneBackFirst(after: UInt64, hour: Int) throws {
        // The plug restarts after half an hour, and its counter continues at the stored 640 Wh. Until the last reading,
        // the counter rises by 260 Wh or 460 Wh. The energy of the samples is 360 Wh.
        try history.record(
            batch(
                chunks(from: 0, count: 1800) { _ in 3600 }
                    + chunks(boot: secondBoot, from: 1800, count: 1801) { _ in 3600 },
                counters: [reading(second: 0, 640_000), reading(boot: secondBoot, second: 3600, after)]))
        let energy = try quarters(4).reduce(0, +)
        #expect(abs(energy - hour) < 100)
    }

    /// The power changes at random moments, and samples are one to five seconds apart. The counter is read at two
    /// random samples.
    @Test("The total equals the actual energy for counter readings at random times", arguments: 0..<60)
    func theCounterWinsAroundItsFirstReadingAndItsLast(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pace = Int.random(in: 1...5, using: &random)
        let seconds = Array(stride(from: 0, through: 1800, by: pace))
        var watts = 0
        let powers = seconds.map { _ in
            if random.chance(0.02) { watts = [0, 5, 100, 2000, 3000].randomElement(using: &random)! }
            return watts * 10
        }
        var encoder = SampleChunkEncoder()
        let samples = zip(seconds, powers).map { Sample(milliseconds: Int64($0) * 1000, deciwatts: Int32($1)) }
        let parts = encoder.append(contentsOf: samples) + [encoder.seal()].compactMap(\.self)
        // The actual energy since the first sample, in milliwatt-hours.
        var flowed = [0.0]
        for index in samples.indices.dropFirst() {
            let mean = Double(powers[index] + powers[index - 1]) / 2
            flowed.append(flowed[index - 1] + mean * Double(pace) / 36)
        }
        let first = Int.random(in: 0..<seconds.count / 2, using: &random)
        let last = Int.random(in: first..<seconds.count, using: &random)
        var batch = HistoryBatch()
        batch.names[lamp] = "Lamp"
        batch.chunks = parts.map { StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: $0) }
        batch.counters = Set([first, last]).sorted().map { index in
            reading(second: seconds[index], 500_000 + UInt64(flowed[index].rounded()))
        }
        try history.record(batch)
        let total = try quarters(3).reduce(0, +)
        #expect(abs(Double(total) - flowed[flowed.count - 1]) < 5, "\(seed): \(total) for \(flowed[flowed.count - 1])")
    }

    /// The wall clock is set repeatedly, by less than a minute. Such a small step does not change the stored time of
    /// the boot, but it can change the order of the readings.
    @Test("The total equals the counter if the clock is set by less than a minute", arguments: 0..<40)
    func theCounterWinsWhereTheClockIsSetALittle(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let parts = chunks(from: 0, count: 1800) { $0 % 300 < 100 ? 3600 : 0 }
        func flowed(_ second: Int) -> UInt64 { UInt64(second / 300 * 10_000 + min(second % 300, 100) * 100) }
        var seconds: Set = [0, 1799]
        for _ in 0..<40 { seconds.insert(.random(in: 60..<1740, using: &random)) }
        var batches = [batch(parts)]
        var shift: Int64 = 0
        for second in seconds.sorted() {
            if random.chance(0.3) { shift = [-45_000, -25_000, -1500, 0, 300, 10_000].randomElement(using: &random)! }
            let origin = midnight + shift
            batches.append(batch([], counters: [reading(origin: origin, second: second, flowed(second))]))
        }
        batches.shuffle(using: &random)
        for batch in batches { try history.record(batch) }
        let total = try quarters(3).reduce(0, +)
        #expect(abs(total - 60_000) < 150, "\(seed): \(total)")
    }
}
