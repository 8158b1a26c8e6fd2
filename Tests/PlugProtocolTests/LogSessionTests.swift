import ProtocolCore
import Testing

import PlugModel

@testable import PlugProtocol

/// Tests of the controller session that requests and receives a plug's log lines.
@Suite struct LogSessionTests {
    private typealias Seat = ControllerSessionTests.Seat

    private func seat(tellsLog: Bool = true) -> Seat {
        var seat = Seat()
        seat.handle(.connected)
        seat.handle(.followLog(.debug, for: .seconds(600)))
        var plug = lamp
        if tellsLog { plug.capabilities.insert(.log) }
        seat.sent = []
        seat.hear { $0.welcome = WireWelcome(plug, now: .zero) }
        return seat
    }

    private func line(_ number: UInt64) -> LogLine {
        LogLine(number: number, time: at(1), level: .debug, part: "PlugService", message: "relay on")
    }

    @Test("The request to follow the log is sent after Welcome, and the log lines are delivered")
    func theWishGoesOutBehindWelcomeAndLinesAreDelivered() {
        var seat = seat()
        guard case .followLog(let wire) = seat.sent.last else {
            Issue.record("\(seat.sent)")
            return
        }
        #expect(wire.level == .debug && wire.seconds == 600)
        seat.updates = []
        seat.hear {
            $0.logAnswer.followed.level = .debug
            $0.logAnswer.followed.seconds = 600
        }
        seat.hear {
            $0.logLines.lost = 3
            $0.logLines.lines = [WireLogLine(line(4)), WireLogLine(line(9))]
        }
        seat.hear { $0.logAnswer.ended = WireLogEnded() }
        let expected: [LogUpdate] = [
            .following(.debug, for: .seconds(600)), .lost(3), .line(line(4)), .line(line(9)), .ended,
        ]
        #expect(seat.updates == expected.map { .log($0) })
    }

    @Test("A plug without the log capability is not asked for its log")
    func aPlugThatDoesNotKnowTheQuestionIsNotAsked() {
        let seat = seat(tellsLog: false)
        let words = "This plug does not send its log; its firmware may be too old."
        #expect(seat.sent.isEmpty)
        #expect(seat.updates.last == .log(.refused(Refusal(.unsupported, words))))
    }

    @Test("The plug's refusal to send its log is delivered")
    func aRefusalIsDelivered() {
        var seat = seat()
        seat.hear { $0.logAnswer.refused = WireRefused(Refusal(.busy, "later")) }
        #expect(seat.updates.last == .log(.refused(Refusal(.busy, "later"))))
    }

    @Test("An answer of a later protocol version is ignored")
    func anAnswerOfALaterVersionIsSkipped() {
        var seat = seat()
        let before = seat.updates
        seat.hear { $0.logAnswer = WireLogAnswer() }
        #expect(seat.updates == before && seat.closed == nil)
    }

    @Test("Unrequested lines and answers end the session")
    func linesThatNobodyAskedForEndTheSession() {
        var lines = Seat.welcomed()
        lines.hear { $0.logLines.lost = 1 }
        #expect(lines.endDetail == "The plug sent log lines that were not requested.")
        var answer = Seat.welcomed()
        answer.hear { $0.logAnswer.ended = WireLogEnded() }
        #expect(answer.endDetail == "The plug sent an answer about its log that was not requested.")
    }

    @Test("A log line with a number that was already received ends the session")
    func aLineThatComesTwiceEndsTheSession() {
        var seat = seat()
        seat.hear { $0.logLines.lines = [WireLogLine(line(4)), WireLogLine(line(4))] }
        #expect(seat.endDetail == "The plug sent log line 4 after 4.")
    }

    @Test("A line that is too long ends the session")
    func aLineThatIsTooLongEndsTheSession() {
        var seat = seat()
        var wire = WireLogLine(line(4))
        wire.message = String(repeating: "x", count: 1025)
        seat.hear { $0.logLines.lines = [wire] }
        #expect(seat.endDetail == "message has 1025 bytes; 0 to 1024 are allowed")
    }

    @Test("Every log level is unchanged after encoding and decoding, and an unknown one becomes info")
    func everyLevelComesBackAndAnUnknownOneIsInfo() {
        for level in LogLevel.allCases { #expect(WireLogLevel(level).model == level) }
        #expect(WireLogLevel.UNRECOGNIZED(99).model == .info)
        #expect(WireLogLevel.unspecified.model == .info)
    }
}
