import LinuxNetwork
import Metering
import PlugClient
import PlugProtocol
import ProtocolCore
import Testing

@testable import Presentation

@Suite struct PowerCourseTests {
    /// A plug whose clock is at 1000 s now.
    private func course() throws -> PowerCourse {
        var course = PowerCourse(plug: "Lamp", span: .seconds(60))
        let plug = PlugDescription.made(boot: boot, asked: BootClock.now, plugTime: at(1000))
        try course.take(report(.connected(plug)))
        return course
    }

    private func chunk(_ seconds: ClosedRange<Int64>) -> [UInt8] {
        var encoder = SampleChunkEncoder()
        for second in seconds {
            _ = encoder.append(Sample(milliseconds: second * 1000, deciwatts: Int32(second)))
        }
        return encoder.seal()!.bytes
    }

    @Test func samplesAndReadingsMakeOneCourseInOrderAndWithoutRepetition() throws {
        var course = try course()
        // The snapshot comes first, and its reading is the last sample too.
        try course.take(report(.snapshot(state(watts: 100, time: 1000.000_4))))
        #expect(!course.isComplete)
        try course.take(report(.samples(fetch: 1, chunk: chunk(990...995), last: false)))
        #expect(!course.isComplete)
        try course.take(report(.samples(fetch: 1, chunk: chunk(996...1000), last: true)))
        #expect(course.isComplete)
        try course.take(report(.state(state(watts: 100.1, time: 1001))))
        #expect(course.records.map(\.activePower) == (990...1001).map { Double($0) / 10 })
        let series = course.chart.series[0]
        #expect(zip(series.points, series.points.dropFirst()).allSatisfy { abs($1.time - $0.time - 1) < 0.001 })
    }

    @Test func theRecordIsALineWithTheTimeOfTheWall() throws {
        var course = try course()
        try course.take(report(.state(state(watts: 60.4, time: 1000))))
        let record = course.records[0]
        #expect(jsonLine(record) == #"{"activePower":60.4,"at":"\#(record.at)","plug":"Lamp"}"#)
        let soon = (WallTime.now + .seconds(1)).iso8601()
        let before = (WallTime.now - .seconds(10)).iso8601()
        #expect(record.at > before && record.at < soon)
    }

    @Test func withoutSamplesItIsCompleteAndEmpty() throws {
        var course = try course()
        try course.take(report(.samples(fetch: 1, chunk: [], last: true)))
        #expect(course.isComplete && course.records.isEmpty)
        #expect(course.chart.title == "Lamp, active power")
    }

    @Test func aDamagedChunkIsAnErrorAndNoPoint() throws {
        var course = try course()
        #expect(throws: SampleChunkError.self) {
            try course.take(report(.samples(fetch: 1, chunk: [1, 2, 3], last: true)))
        }
        #expect(course.records.isEmpty)
    }

    @Test func beforeAConnectionNothingHasATime() throws {
        var course = PowerCourse(plug: "Lamp", span: .seconds(60))
        try course.take(report(.state(state())))
        #expect(course.records.isEmpty)
    }
}
