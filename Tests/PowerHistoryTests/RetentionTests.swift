import GRDB
import Metering
import PlugModel
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct RetentionTests {
    private let directory = TestFolder(on: .memory)
    private let day: Int64 = 86_400_000

    /// Records half an hour of every day.
    private func record(_ history: PowerHistory, days: Range<Int>, of plug: PlugID = lamp) throws {
        for number in days {
            try history.record(batch(chunks(of: plug, from: number * 86_400 + 3600, count: 1801) { _ in 1000 }))
        }
    }

    @Test("Samples are deleted first, roll-ups of minutes at a higher age, and coarser roll-ups never")
    func samplesGoFirstAndMinutesNext() throws {
        let history = try PowerHistory(
            directory.path, role: .recorder, retention: HistoryRetention(sampleDays: 10, minuteDays: 20))
        try record(history, days: 0..<30)
        let now = midnight + 30 * day
        for _ in 0..<3 { try history.forgetOld(now: now) }
        // Ages count back from the newest chunk, which began on day 29.
        let oldest = try #require(try history.times().first)
        #expect(oldest == midnight + 19 * day + 3_600_000)
        let minutes = try history.summaries(of: lamp, step: .minute, from: 0, to: .max)
        #expect(minutes.first?.start == midnight + 9 * day + 3_600_000)
        #expect(try history.summaries(of: lamp, step: .day, from: 0, to: .max).count == 30)
        #expect(try history.plug(named: lamp.rawValue).span?.lowerBound == midnight + 3_600_000)
        // Deleted samples are not stored again, and their roll-ups stay.
        let content = try history.content()
        try record(history, days: 3..<5)
        #expect(try history.content() == content)
        // A late sample near the age limit of samples does not change older roll-ups.
        try history.record(batch(chunks(from: 18 * 86_400 + 5300, count: 300) { _ in 1000 }))
        #expect(try history.summaries(of: lamp, step: .quarter, from: 0, to: midnight + 19 * day).count == 57)
    }

    @Test("One call deletes a limited number of chunks") func oneCallForgetsAPiece() throws {
        let history = try PowerHistory(
            directory.path, role: .recorder, retention: HistoryRetention(sampleDays: 1, minuteDays: nil))
        try record(history, days: 0..<120)
        try history.forgetOld(now: midnight + 120 * day)
        #expect(try history.times().first == midnight + PowerHistory.chunksAPiece * day + 3_600_000)
    }

    @Test("Neither a clock that is ahead nor an import of old samples deletes anything")
    func aClockThatIsAheadAndOldImportsCostNothing() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try record(history, days: 0..<3)
        try record(history, days: -4500 ..< -4498, of: fridge)
        let content = try history.content()
        try history.forgetOld(now: midnight + 5000 * day)
        #expect(try history.content() == content)
    }
}
