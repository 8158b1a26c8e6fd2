import HouseCalendar
import Metering
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct SummaryTests {
    private let directory: TestFolder
    private let history: PowerHistory

    init() throws {
        directory = TestFolder(on: .memory)
        history = try PowerHistory(directory.path, role: .recorder)
    }

    private func energy(from: Int, to: Int, _ step: CalendarStep, zone: ZoneOffsets = .utc) throws -> [PeriodEnergy] {
        let periods = try #require(CalendarPeriod.all(step, from: from, to: to, zone: zone))
        return try history.energy(of: lamp, periods: periods)
    }

    private let start = Int(midnight / 1000)

    @Test("Roll-ups equal the summaries of the samples", arguments: RollUpStep.allCases)
    func rollUpsAreWhatTheSamplesGive(step: RollUpStep) throws {
        // Irregular times: gaps of 29 and 31 seconds, and times between full seconds.
        var encoder = SampleChunkEncoder()
        var time: Int64 = 3_598_000
        for index in 0..<3900 {
            time += index % 600 == 599 ? 31_000 : index % 400 == 399 ? 29_000 : 997
            _ = encoder.append(Sample(milliseconds: time, deciwatts: Int32((index * 7919) % 20_011 - 300)))
        }
        let sealed = encoder.seal()
        let chunk = try #require(sealed)
        try history.record(batch([StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: chunk)]))
        let rolledUp = try history.summaries(of: lamp, step: step, from: 0, to: .max)
        let summed = try history.summariesOfSamples(of: lamp, step: step, from: 0, to: .max)
        #expect(rolledUp.map(\.start) == summed.map(\.start))
        for (one, other) in zip(rolledUp, summed) {
            #expect(one.coveredMilliseconds == other.coveredMilliseconds)
            #expect(abs(one.mean - other.mean) < 0.002)
            #expect(one.least == other.least && one.greatest == other.greatest)
            #expect(abs(one.milliwattHours - other.milliwattHours) < 0.5)
        }
        #expect(rolledUp.count == [.minute: 72, .quarter: 6, .hour: 3, .day: 1][step])
    }

    @Test("The energy between two samples is divided exactly at the boundary of a step")
    func trapezoidsAreSharedOutExactly() throws {
        // From 0 W to 100 W within 20 s across the boundary of a minute: a mean of 25 W before it and of 75 W after it.
        var encoder = SampleChunkEncoder()
        _ = encoder.append(Sample(milliseconds: 50_000, deciwatts: 0))
        _ = encoder.append(Sample(milliseconds: 70_000, deciwatts: 1000))
        let sealed = encoder.seal()
        let chunk = try #require(sealed)
        try history.record(batch([StoredChunk(plug: lamp, boot: firstBoot, origin: midnight, chunk: chunk)]))
        let minutes = try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
        #expect(
            minutes == [
                PowerSummary(
                    start: midnight, coveredMilliseconds: 10_000, mean: 25, least: 0, greatest: 0,
                    milliwattHours: 250_000 / 3600.0),
                PowerSummary(
                    start: midnight + 60_000, coveredMilliseconds: 10_000, mean: 75, least: 100, greatest: 100,
                    milliwattHours: 750_000 / 3600.0),
            ])
    }

    @Test("A gap has no power, and its energy is that of the counter")
    func aHoleIsNoPowerButWhatTheCounterSaw() throws {
        // The power is 360 W in the first two hours and in the sixth hour. In between, the counter rises by 100 Wh per
        // hour.
        try history.record(
            batch(
                chunks(from: 0, count: 7201) { _ in 3600 } + chunks(from: 18_000, count: 3601) { _ in 3600 },
                counters: [
                    reading(second: 0, 5_000), reading(second: 7200, 725_000), reading(second: 18_000, 1_025_000),
                    reading(second: 21_600, 1_385_000),
                ]))
        let hours = try energy(from: start, to: start + 6 * 3600, .hour)
        #expect(
            hours.map { Int($0.milliwattHours.rounded()) } == [360_000, 360_000, 100_000, 100_000, 100_000, 360_000])
        #expect(hours.map { Int($0.estimatedMilliwattHours.rounded()) } == [0, 0, 100_000, 100_000, 100_000, 0])
        #expect(hours.map { $0.coveredMilliseconds / 1000 } == [3600, 3600, 0, 0, 0, 3600])
        // The third hour has only one sample, at its beginning: the last sample before the gap.
        #expect(hours.map(\.mean) == [360, 360, 360, nil, nil, 360])
        let summaries = try history.summaries(of: lamp, step: .hour, from: 0, to: midnight + 21_600_000)
        #expect(summaries.map { ($0.start - midnight) / 3_600_000 } == [0, 1, 2, 5])
    }

    @Test("If the counter falls, the samples determine the energy") func aCounterThatFellIsNotBelieved() throws {
        // The counter is lower at 7200 s than at 3600 s, because the plug restored an older value.
        try history.record(
            batch(
                chunks(from: 0, count: 10_801) { _ in 3600 },
                counters: [
                    reading(second: 0, 900_000), reading(second: 3600, 1_260_000), reading(second: 7200, 1_000_000),
                    reading(second: 10_800, 1_378_000),
                ]))
        let hours = try energy(from: start, to: start + 3 * 3600, .hour)
        // In the last hour the counter rose by five percent more than the samples show. The counter has precedence,
        // because its energy is billed.
        #expect(hours.map { Int($0.milliwattHours.rounded()) } == [360_000, 360_000, 378_000])
        #expect(hours.allSatisfy { $0.estimatedMilliwattHours == 0 })
    }

    @Test("Without a counter, the samples determine the energy") func withoutACounterTheSamplesCount() throws {
        try history.record(batch(chunks(from: 0, count: 3601) { _ in 1800 }))
        let hours = try energy(from: start, to: start + 7200, .hour)
        #expect(hours.map(\.milliwattHours) == [180_000, 0])
        #expect(hours.map(\.greatest) == [180, 180])
        #expect(hours.map(\.coveredMilliseconds) == [3_600_000, 0])
    }

    @Test("Days are those of the local calendar") func daysAreThoseOfTheLocalCalendar() throws {
        // Berlin sets its clocks forward on 2024-03-31 at 01:00 UTC: that day has 23 hours.
        let zone = ZoneOffsets(initial: 3600, transitions: [.init(time: 1_711_846_800, seconds: 7200)])
        let second = 1_711_670_400 - start
        try history.record(batch(chunks(from: second, count: 5 * 86_400) { _ in 1000 }))
        let days = try energy(from: 1_711_753_200, to: 1_711_753_200 + 3 * 86_400, .day, zone: zone)
        #expect(days.map { Int(($0.milliwattHours / 1000).rounded()) } == [2400, 2300, 2400, 2400])
        #expect(days.map(\.period.start.day) == [30, 31, 1, 2])
        // Nepal is ahead by five and three quarter hours.
        let nepal = try energy(from: 1_711_753_200, to: 1_711_753_201, .day, zone: ZoneOffsets(initial: 20_700))
        #expect(nepal.map { Int(($0.milliwattHours / 1000).rounded()) } == [2400])
    }

    @Test("The summaries of every step contain the maximum of a spike") func aSpikeIsNeverLost() throws {
        try history.record(batch(chunks(from: 0, count: 80_000) { $0 == 41_234 ? 23_000 : 20 }))
        for step in RollUpStep.allCases {
            let summaries = try history.summaries(of: lamp, step: step, from: 0, to: .max)
            #expect(summaries.map(\.greatest).max() == 2300)
        }
    }

    @Test("A single sample has power and covers no time") func oneSampleAloneIsKnownAndCoversNothing() throws {
        try history.record(batch(chunks(from: 90, count: 1) { _ in 400 }))
        let minutes = try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
        #expect(
            minutes == [
                PowerSummary(
                    start: midnight + 60_000, coveredMilliseconds: 0, mean: 40, least: 40, greatest: 40,
                    milliwattHours: 0)
            ])
    }
}
