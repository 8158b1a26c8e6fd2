import LinuxSystem
import PlugClient
import PlugModel
import ProtocolCore
import Testing

@testable import Presentation

@Suite struct LogRecordTests {
    private func record(_ update: PlugUpdate) -> LogRecord? {
        let at = WallTime(nanosecondsSince1970: 1_700_000_000_123_000_000)
        return LogRecord(PlugReport(plug: "Lamp", at: at, update: update))
    }

    @Test("A line shows its time, level and part of the program") func aLineTellsWhenWhereAndHowMuchItMatters() throws {
        let line = LogLine(number: 7, time: .zero, level: .debug, part: "PlugService", message: "relay on")
        let told = try #require(record(.log(.line(line))))
        #expect(told.text == "\(localTime("2023-11-14T22:13:20.123Z"))  debug     PlugService: relay on")
        #expect(
            jsonLine(told)
                == #"{"at":"2023-11-14T22:13:20.123Z","event":"line","level":"debug","message":"relay on","number":7,"#
                + #""part":"PlugService","plug":"Lamp"}"#)
    }

    @Test("The record of lost lines has their number") func lostLinesAreCounted() throws {
        let told = try #require(record(.log(.lost(12))))
        #expect(told.text == "\(localTime("2023-11-14T22:13:20.123Z"))  12 lines were lost")
        #expect(jsonLine(told) == #"{"at":"2023-11-14T22:13:20.123Z","count":12,"event":"lost","plug":"Lamp"}"#)
    }

    @Test("Updates that are not log lines have no record") func whatIsNoLineIsNoRecord() {
        #expect(record(.log(.ended)) == nil)
        #expect(record(.following(after: 1)) == nil)
    }
}
