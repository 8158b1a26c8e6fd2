import Charting
import LinuxSystem
import Metering
import PlugClient
import PlugModel
import PowerHistory
import ProtocolCore
import TestSupport
import Testing

@testable import Presentation

@Suite struct PowerCourseTests {
    /// A series of a plug whose clock is at 1000 s now.
    private func course() -> LivePowerSeries {
        var course = LivePowerSeries(plug: "Lamp")
        let plug = PlugDescription.made(boot: boot, asked: BootClock.now, plugTime: at(1000))
        course.handle(report(.connected(plug)))
        return course
    }

    private func samples(_ seconds: ClosedRange<Int64>) -> [PlugSample] {
        seconds.map { PlugSample(Sample(milliseconds: $0 * 1000, deciwatts: Int32($0)), at: moment) }
    }

    private func records(_ course: LivePowerSeries) -> [SampleRecord] { course.records(from: 0, to: 1e11) }

    @Test("Samples and readings form one sorted series without repetitions")
    func samplesAndReadingsMakeOneCourseInOrderAndWithoutRepetition() {
        var course = course()
        // The snapshot comes first. Its reading is also the last sample.
        course.handle(report(.snapshot(state(watts: 100, time: 1000.000_4))))
        course.add(samples(990...1000))
        course.handle(report(.state(state(watts: 100.1, time: 1001))))
        #expect(records(course).map(\.activePower) == (990...1001).map { Double($0) / 10 })
        let series = course.series
        #expect(zip(series.points, series.points.dropFirst()).allSatisfy { abs($1.time - $0.time - 1) < 0.001 })
    }

    @Test("The record of a sample has its wall time") func theRecordIsALineWithTheTimeOfTheWall() {
        var course = course()
        course.handle(report(.state(state(watts: 60.4, time: 1000))))
        let record = records(course)[0]
        #expect(jsonLine(record) == #"{"activePower":60.4,"at":"\#(record.at)","plug":"Lamp"}"#)
        let soon = (WallTime.now + .seconds(1)).iso8601()
        let before = (WallTime.now - .seconds(10)).iso8601()
        #expect(record.at > before && record.at < soon)
    }

    @Test("A series without samples has no records and an empty chart") func withoutSamplesItIsEmpty() {
        var course = course()
        course.add([])
        #expect(records(course).isEmpty)
        let chart = ChartSource(courses: [course]).chart(0...60, zone: .utc)
        #expect(chart.title == "Lamp, active power")
        #expect(chart.window.length == 60)
    }

    @Test("Readings before a connection have no time and are ignored") func beforeAConnectionNothingHasATime() {
        var course = LivePowerSeries(plug: "Lamp")
        course.handle(report(.state(state())))
        #expect(records(course).isEmpty)
    }

    /// Samples of the plug that the history already has add no points and no energy.
    @Test("If the history and the plug have the same samples, those of the history are used")
    func theHistoryGoesBeforeThePlug() {
        let now = Double(WallTime.now.nanosecondsSince1970) / 1e9
        var kept = StoredPowerSeries()
        kept.points = (0...5).map { ChartPoint(time: now - 10 + Double($0), value: 7) }
        kept.newest = kept.points.last?.time
        var course = LivePowerSeries(plug: "Lamp", kept: kept)
        course.handle(report(.connected(PlugDescription.made(boot: boot, asked: BootClock.now, plugTime: at(1000)))))
        course.add(samples(990...1000))
        let series = course.series
        #expect(series.points.prefix(6).allSatisfy { $0.value == 7 })
        #expect(series.points.dropFirst(6).map(\.value) == (996...1000).map { Double($0) / 10 })
        let energy = course.newEnergy(from: 0, to: 1e11)
        #expect(abs(energy.covered - 5) < 0.2)
        #expect(course.newEnergy(from: 0, to: now - 100) == (0, 0))
    }

    @Test("Summaries become records with minimum and maximum") func summariesAreRecordsWithTheirBounds() {
        var kept = StoredPowerSeries()
        kept.summaries = [ChartSummary(from: 3600, to: 7200, covered: 1800, mean: 40, least: 1, greatest: 90)]
        let course = LivePowerSeries(plug: "Lamp", kept: kept)
        #expect(
            records(course).map(jsonLine) == [
                #"{"activePower":40,"at":"1970-01-01T01:00:00.000Z","covered":1800,"maxActivePower":90,"#
                    + #""minActivePower":1,"plug":"Lamp"}"#
            ])
        #expect(course.records(from: 7201, to: 9000).isEmpty)
    }

    private static let steps: [(days: Int64, columns: Int, step: RollUpStep?)] = [
        (1, 100, nil), (2, 150, .minute), (2, 1900, .minute), (7, 160, .quarter), (30, 900, .quarter),
        (365, 1900, .hour),
        (366, 160, .day), (3650, 1900, .day), (2, 100_000, .minute),
    ]

    @Test("Long spans are drawn from summaries", arguments: steps)
    func longTimesAreDrawnFromSummaries(days: Int64, columns: Int, step: RollUpStep?) {
        #expect(StoredPowerSeries.step(of: 0...days * 86_400_000, columns: columns) == step)
    }

    /// A summary of a day covers a complete day in UTC. Between the beginning of the span and the first of these days,
    /// summaries of hours and shorter steps are used.
    @Test("Summaries never begin before the span", arguments: [0, 1, 59, 3600, 82_800, 86_399])
    func nothingBeforeTheSpanIsShown(second: Int64) throws {
        let folder = TestFolder(on: .memory)
        let history = try PowerHistory(folder.path, role: .recorder)
        let plug = try #require(PlugID(rawValue: "00000000a001"))
        var encoder = SampleChunkEncoder()
        var chunks: [SampleChunk] = []
        for minute in 0..<10 * 1440 {
            for second in [0, 25, 50] as [Int64] {
                let sample = Sample(milliseconds: Int64(minute) * 60_000 + second * 1000, deciwatts: 600)
                if let chunk = encoder.append(sample) { chunks.append(chunk) }
            }
        }
        if let last = encoder.seal() { chunks.append(last) }
        var batch = HistoryBatch()
        let boot = try #require(BootID(bytes: [UInt8](repeating: 1, count: 16)))
        batch.chunks = chunks.map { StoredChunk(plug: plug, boot: boot, origin: 0, chunk: $0) }
        try history.record(batch)
        let known = try #require(try history.plugs().first)
        let span = (86_400 + second) * 1000...8 * 86_400_000
        for columns in [4, 100, 3000] {
            let kept = try StoredPowerSeries(of: known, from: history, over: span, columns: columns)
            let course = LivePowerSeries(plug: "Lamp", kept: kept)
            let (from, to) = (Double(span.lowerBound) / 1000, Double(span.upperBound) / 1000)
            let first = try #require(kept.summaries.first)
            #expect(first.from >= from && first.from - from < 60)
            // The summaries are contiguous.
            for (left, right) in zip(kept.summaries, kept.summaries.dropFirst()) { #expect(left.to == right.from) }
            #expect(course.records(from: from, to: to).count >= kept.summaries.count)
        }
    }

    @Test("Relay events are marked, but readings and presses are not") func eventsAreMarkedAndReadingsAreNot() {
        var source = ChartSource(courses: [LivePowerSeries(plug: "Lamp"), LivePowerSeries(plug: "Kettle")])
        source.mark(report(.state(state(watts: 60, time: 1000))))
        for kind in [PlugEvent.Kind.relayChanged(on: true, cause: .button), .buttonPressed(.single)] {
            source.mark(report(.event(PlugEvent(sequence: 1, boot: boot, time: at(1), kind: kind), age: .zero)))
        }
        #expect(source.marks.map(\.label) == ["Lamp on (button)"])
    }

    /// The plug has no history. It draws power for ten minutes of each half hour, for five hours, with a peak at each start.
    @Test("Appliance cycles become spans of the chart") func cyclesAreSpansOfTheChart() throws {
        var course = LivePowerSeries(plug: "Refrigerator")
        course.handle(report(.connected(PlugDescription.made(boot: boot, asked: BootClock.now, plugTime: at(18_000)))))
        course.add(
            (0..<18_000 as Range<Int64>).map { second in
                let place = second % 1800
                let deciwatts: Int32 = place < 4 ? 3000 : place < 600 ? 900 : 10
                return PlugSample(Sample(milliseconds: second * 1000, deciwatts: deciwatts), at: moment)
            })
        var source = ChartSource(courses: [course])
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        try source.findCycles(of: [nil], from: nil, over: now - 18_000_000...now)
        #expect(source.spans.count >= 8)
        #expect(source.spans.allSatisfy { (590...660).contains($0.to - $0.from) && $0.label == "15 Wh" })
        source.spans = []
        try source.findCycles(of: [nil], from: nil, over: now - 15 * 86_400_000...now)
        #expect(source.spans.isEmpty)
    }
}
