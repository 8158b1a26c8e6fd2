import Automation
import DurableRules
import LinuxSystem
import PlugModel
import ProtocolCore
import Testing

@testable import Daemon

@Suite struct UnsentRecordsTests {
    private static let firing: Firing = {
        var random = SeededRandom(seed: 1)
        return Firing(id: RequestID(drawnFrom: &random), rule: "hall.lua:1", cause: Firing.Cause(.person), time: .zero)
    }()

    private func record(_ notice: RuleNotice) -> RunnerRecord {
        RunnerRecord(at: WallTime(nanosecondsSince1970: 1), notice: notice)
    }

    private func all(_ unsent: inout RecordBuffer) -> [RuleNotice] {
        var notices: [RuleNotice] = []
        while let record = unsent.takeNext() { notices.append(record.notice) }
        return notices
    }

    @Test("Records are delivered in order") func theyComeInTheirOrder() {
        var unsent = RecordBuffer()
        var expected: [RuleNotice] = []
        for count in 0..<5000 {
            unsent.add(record(.lost(plug: "\(count)")))
            expected.append(.lost(plug: "\(count)"))
        }
        #expect(all(&unsent) == expected)
    }

    @Test("While the reader is blocked, records with log lines of scripts are dropped and counted")
    func behindAReaderThatStandsStillWhatScriptsSayIsLeftOutAndCounted() {
        var unsent = RecordBuffer()
        let lines = (0..<100).map { "line \($0)" }
        unsent.add(record(.scriptLogged(Self.firing, ["the oldest"])))
        unsent.add(record(.firing(Self.firing)))
        for _ in 0..<10_000 { unsent.add(record(.scriptLogged(Self.firing, lines))) }
        unsent.add(record(.lost(plug: "Lamp")))
        let notices = all(&unsent)
        let logs = notices.count { if case .scriptLogged = $0 { true } else { false } }
        #expect((100...163).contains(logs))
        #expect(
            notices.first == .recordsLeftOut(10_001 - logs),
            "the number of dropped records must be the first record")
        #expect(notices[1] == .firing(Self.firing) && notices.last == .lost(plug: "Lamp"))
        #expect(notices.count == logs + 3)
    }

    @Test("The number of waiting records is limited") func whateverTheyAreTheyAreBounded() {
        var unsent = RecordBuffer()
        for count in 0..<200_000 { unsent.add(record(.lost(plug: "\(count)"))) }
        let notices = all(&unsent)
        #expect(notices.count <= RecordBuffer.limit + 1 && notices.last == .lost(plug: "199999"))
        #expect(notices.first == .recordsLeftOut(200_001 - notices.count))
    }
}
