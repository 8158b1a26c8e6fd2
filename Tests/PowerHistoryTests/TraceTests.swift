import GRDB
import TestSupport
import Testing

@testable import PowerHistory

@Suite struct TraceTests {
    private let directory = TestFolder(on: .memory)
    private let other = TestFolder(on: .memory)
    private let day: Int64 = 86_400_000

    private func trace(_ number: Int, of rule: String = "Movie night", isFiring: Bool = true) -> StoredTrace {
        StoredTrace(
            id: "\(rule) \(number)", at: midnight + Int64(number) * 1000, rule: rule, isFiring: isFiring,
            json: "{\"number\":\(number)}")
    }

    private func record(_ traces: [StoredTrace], _ history: PowerHistory) throws {
        var batch = HistoryBatch()
        batch.traces = traces
        try history.record(batch)
    }

    @Test("Traces are returned by rule, in ascending order of time") func theyComeBackByRuleAndTime() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try record([trace(2), trace(1), trace(3, of: "Hall")], history)
        #expect(try history.traces(of: "Movie night", from: 0, to: .max) == [trace(1), trace(2)])
        #expect(try history.traces(of: nil, from: midnight + 2000, to: .max) == [trace(2), trace(3, of: "Hall")])
        #expect(try history.traces(of: nil, from: 0, to: .max, newest: 1) == [trace(3, of: "Hall")])
        #expect(try history.traces(of: "hall", from: 0, to: .max).isEmpty)
        #expect(try history.tracedRules() == ["Hall", "Movie night"])
    }

    @Test("A later trace with the same id replaces the earlier one")
    func whatIsToldLaterTakesThePlaceOfWhatWasTold() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        try record([trace(1)], history)
        var later = trace(1)
        later.json = "{\"number\":1,\"steps\":[]}"
        try record([later], history)
        #expect(try history.traces(of: nil, from: 0, to: .max) == [later])
    }

    @Test("A trace that is too long is left out and reported") func oneThatIsTooLongIsLeftOutAndTold() throws {
        let said = Complaints()
        let history = try PowerHistory(directory.path, role: .recorder, complain: said.take)
        var long = trace(1)
        long.json = String(repeating: "x", count: StoredTrace.limit + 1)
        try record([long, trace(2)], history)
        #expect(try history.traces(of: nil, from: 0, to: .max) == [trace(2)])
        #expect(said.all.count == 1 && said.all[0].contains("Movie night") && said.all[0].contains("hint: "))
    }

    @Test("Traces beyond the age limit are deleted") func oldOnesAreForgotten() throws {
        let history = try PowerHistory(
            directory.path, role: .recorder,
            retention: HistoryRetention(sampleDays: nil, minuteDays: nil, traceDays: 10))
        let newest = trace(20 * 86_400)
        try record([trace(1), trace(9 * 86_400), newest], history)
        // If the clock is far ahead, ages count back from the newest trace.
        try history.forgetOld(now: midnight + 5000 * day)
        #expect(try history.traces(of: nil, from: 0, to: .max) == [newest])
    }

    @Test("Above a limit per rule the oldest traces are deleted; traces of firings have their own limit")
    func ofTooManyTheOldestGoAndFiringsApart() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        let idle = (0..<6).map { trace($0 + 100, isFiring: false) }
        let fired = (0..<6).map { trace($0) }
        try record(idle + fired + [trace(1, of: "Hall")], history)
        try history.write {
            try PowerHistory.forgetTraces(olderThan: nil, now: midnight, firings: 4, asides: 2, $0)
        }
        let kept = try history.traces(of: "Movie night", from: 0, to: .max)
        #expect(kept == fired.suffix(4) + idle.suffix(2))
        #expect(try history.traces(of: "Hall", from: 0, to: .max).count == 1)
    }

    @Test("A trace without its beginning does not replace a complete one")
    func oneWithoutItsBeginningReplacesNoWholeOne() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        var (part, later) = (trace(1), trace(1))
        (part.json, part.isPart) = (#"{"isPart":true}"#, true)
        (later.json, later.isPart) = (#"{"isPart":true,"more":1}"#, true)
        try record([trace(1), part], history)
        #expect(try history.traces(of: nil, from: 0, to: .max).map(\.json) == [trace(1).json])
        var (other, grown) = (part, later)
        (other.id, grown.id) = ("other", "other")
        try record([other, grown], history)
        #expect(try history.traces(of: nil, from: 0, to: .max).last?.json == later.json)
    }

    @Test("A repair and an export copy traces") func repairAndExportCopyThem() throws {
        let history = try PowerHistory(directory.path, role: .recorder)
        let traces = (0..<10).map { trace($0) }
        try record(traces, history)
        try PowerHistory.repair(directory.path + "/history.sqlite", into: other.path + "/copy")
        let copy = try PowerHistory(other.path + "/copy", role: .reader)
        #expect(try copy.traces(of: nil, from: 0, to: .max) == traces)
        let file = other.path + "/export.sqlite"
        try HistoryExport.write(file) { export throws(HistoryError) in
            try export.add(tracesFrom: history, over: midnight...midnight + 4000)
        }
        let count = try DatabaseQueue(path: file).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM trace") }
        #expect(count == 5)
    }
}
