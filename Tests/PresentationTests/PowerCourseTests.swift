import LinuxNetwork
import Metering
import PlugClient
import PlugProtocol
import ProtocolCore
import Testing

@testable import Presentation

@Suite struct PowerCourseTests {
    /// A plug whose clock is at 1000 s now.
    private func course() -> PowerCourse {
        var course = PowerCourse(plug: "Lamp", span: .seconds(60))
        let plug = PlugDescription.made(boot: boot, asked: BootClock.now, plugTime: at(1000))
        course.take(report(.connected(plug)))
        return course
    }

    private func samples(_ seconds: ClosedRange<Int64>) -> [PlugSample] {
        seconds.map { PlugSample(Sample(milliseconds: $0 * 1000, deciwatts: Int32($0)), at: moment) }
    }

    @Test func samplesAndReadingsMakeOneCourseInOrderAndWithoutRepetition() {
        var course = course()
        // The snapshot comes first, and its reading is the last sample too.
        course.take(report(.snapshot(state(watts: 100, time: 1000.000_4))))
        course.take(samples(990...1000))
        course.take(report(.state(state(watts: 100.1, time: 1001))))
        #expect(course.records.map(\.activePower) == (990...1001).map { Double($0) / 10 })
        let series = course.chart.series[0]
        #expect(zip(series.points, series.points.dropFirst()).allSatisfy { abs($1.time - $0.time - 1) < 0.001 })
    }

    @Test func theRecordIsALineWithTheTimeOfTheWall() {
        var course = course()
        course.take(report(.state(state(watts: 60.4, time: 1000))))
        let record = course.records[0]
        #expect(jsonLine(record) == #"{"activePower":60.4,"at":"\#(record.at)","plug":"Lamp"}"#)
        let soon = (WallTime.now + .seconds(1)).iso8601()
        let before = (WallTime.now - .seconds(10)).iso8601()
        #expect(record.at > before && record.at < soon)
    }

    @Test func withoutSamplesItIsEmpty() {
        var course = course()
        course.take([])
        #expect(course.records.isEmpty)
        #expect(course.chart.title == "Lamp, active power")
    }

    @Test func beforeAConnectionNothingHasATime() {
        var course = PowerCourse(plug: "Lamp", span: .seconds(60))
        course.take(report(.state(state())))
        #expect(course.records.isEmpty)
    }
}
