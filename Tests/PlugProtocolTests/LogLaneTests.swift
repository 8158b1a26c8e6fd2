import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

/// Tests of the plug that sends its log lines to the sessions that follow the log.
@Suite struct LogLaneTests {
    private func line(_ number: UInt64, _ level: LogLevel = .info, _ message: String = "") -> LogLine {
        LogLine(number: number, time: at(Double(number)), level: level, part: "Test", message: message)
    }

    private func follow(
        _ bench: inout Bench, _ connection: ConnectionID = first, _ level: WireLogLevel = .info, seconds: UInt32 = 60,
        at time: Double = 0
    ) -> [PlugServer.Action] {
        bench.say(on: connection, at: time) {
            $0.followLog.level = level
            $0.followLog.seconds = seconds
        }
    }

    private struct Heard: Equatable {
        var answers: [LogUpdate] = []
        var numbers: [UInt64] = []
        var lost: UInt64 = 0
    }

    /// Returns the log messages that a connection received since the last call.
    private func heard(_ bench: inout Bench, _ connection: ConnectionID = first) -> Heard {
        var heard = Heard()
        for kind in bench.take(connection) {
            switch kind {
            case .logAnswer(let wire): heard.answers += [wire.model].compactMap(\.self)
            case .logLines(let wire):
                heard.numbers += wire.lines.map(\.number)
                heard.lost += wire.lost
            case .welcome, .subscribed, .snapshot, .event, .state, .result, .samples, .ping, .pong, .goodbye,
                .pairingChallenge, .pairingProof, .controllers, .descriptionChanged, .invitation, .newCode,
                .keyAccepted, .nextKey, .refused,
                .homekit, .matter, .update, .wifi, .invitations, .audit:
                break
            }
        }
        return heard
    }

    @Test("A follower gets the buffered lines first, and then each new line of its level or above")
    func whatLedToNowComesFirstAndThenEachLineFromTheLevelOn() {
        var bench = Bench()
        bench.greet()
        bench.handle(.logged([line(1, .debug), line(2), line(3, .error)], lost: 0))
        #expect(heard(&bench) == Heard(), "no line is sent without a request")
        #expect(follow(&bench, first, .info, seconds: 60) == [.shell(.logLevel(.info))])
        #expect(
            heard(&bench) == Heard(answers: [.following(.info, for: .seconds(60))], numbers: [2, 3]))
        bench.handle(.logged([line(4, .debug), line(5, .notice)], lost: 0))
        #expect(heard(&bench).numbers == [5])
    }

    @Test("A session stops following the log after the requested time, and the log level is reset")
    func theTimeEndsByItselfAndTheLevelFallsBack() {
        var bench = Bench()
        bench.greet()
        _ = follow(&bench, first, .debug, seconds: 10)
        #expect(bench.server.nextDeadline == at(10))
        _ = heard(&bench)
        #expect(bench.run(until: 9.9) == [])
        bench.handle(.logged([line(1, .debug)], lost: 0), at: 9.9)
        #expect(bench.run(until: 10) == [.shell(.logLevel(nil))])
        #expect(heard(&bench) == Heard(answers: [.ended], numbers: [1]))
        bench.handle(.logged([line(2)], lost: 0), at: 10)
        #expect(heard(&bench) == Heard())
    }

    @Test("A peer that does not read also stops following the log after the requested time")
    func theTimeAlsoEndsForOneWhoDoesNotRead() {
        var bench = Bench()
        bench.greet()
        _ = follow(&bench, first, .debug, seconds: 10)
        bench.handle(.writable(first, false))
        #expect(bench.run(until: 10) == [.shell(.logLevel(nil))])
    }

    @Test("A request to follow the log is limited to an hour")
    func nobodyGetsMoreThanAnHourAtATime() {
        var bench = Bench()
        bench.greet()
        _ = follow(&bench, first, .info, seconds: .max)
        #expect(heard(&bench).answers == [.following(.info, for: .seconds(3600))])
    }

    @Test("While two sessions of a controller follow the log, a third one is refused")
    func aThirdFollowerIsRefusedUntilOneHasEnded() {
        var bench = Bench()
        for number in 1...3 as ClosedRange<UInt64> { bench.greet(ConnectionID(rawValue: number)) }
        let third = ConnectionID(rawValue: 3)
        #expect(follow(&bench, first, .error) == [.shell(.logLevel(.error))])
        #expect(follow(&bench, second, .trace) == [.shell(.logLevel(.trace))], "the most detailed level applies")
        #expect(follow(&bench, third, .trace) == [])
        let words =
            "2 sessions already follow this plug's log, 2 from this controller; try again when one has ended."
        #expect(heard(&bench, third).answers == [.refused(Refusal(.busy, words))])
        #expect(follow(&bench, second, .trace, seconds: 0) == [.shell(.logLevel(.error))])
        #expect(heard(&bench, second).answers == [.following(.trace, for: .seconds(60)), .ended])
        #expect(follow(&bench, third, .notice) == [.shell(.logLevel(.notice))])
        #expect(heard(&bench, third).answers == [.following(.notice, for: .seconds(60))])
    }

    /// Attack class: an accepted controller uses up a shared resource.
    @Test("Two controllers may follow the log with two sessions each, and a fifth session is refused")
    func oneControllerDoesNotKeepTheOthersFromTheLog() {
        var bench = Bench(paired: [deskKey, otherKey, ownerKey])
        for (number, key) in [deskKey, deskKey, otherKey, otherKey, ownerKey].enumerated() {
            let connection = ConnectionID(rawValue: UInt64(number + 1))
            bench.greet(connection, key: key)
            _ = follow(&bench, connection, .info)
            let isFollowing = heard(&bench, connection).answers == [.following(.info, for: .seconds(60))]
            #expect(isFollowing == (number < 4))
        }
    }

    @Test("The log level is reset when the session ends")
    func theLevelFallsBackWhenTheSessionEnds() {
        var bench = Bench()
        bench.greet()
        _ = follow(&bench, first, .debug)
        #expect(bench.handle(.closed(first)) == [.shell(.logLevel(nil))])
        bench.greet(second)
        _ = follow(&bench, second, .debug)
        #expect(bench.handle(.stop).contains(.shell(.logLevel(nil))))
    }

    @Test("A second request of a session repeats no line and sets a new level and a new end time")
    func whoAsksAgainGoesOnWhereItIs() {
        var bench = Bench()
        bench.greet()
        bench.handle(.logged([line(1), line(2)], lost: 0))
        _ = follow(&bench, first, .info, seconds: 10)
        #expect(heard(&bench).numbers == [1, 2])
        #expect(follow(&bench, first, .debug, seconds: 10, at: 8) == [.shell(.logLevel(.debug))])
        #expect(heard(&bench).numbers == [])
        #expect(bench.run(until: 17.9) == [])
        #expect(bench.run(until: 18) == [.shell(.logLevel(nil))])
    }

    @Test("A slow reader gets the number of lost lines, and the plug queues nothing for it")
    func whoReadsTooSlowlyIsToldHowManyLinesWereLostAndThePlugKeepsNoMore() {
        var bench = Bench()
        bench.greet()
        _ = follow(&bench, first, .info, seconds: 3600)
        _ = heard(&bench)
        bench.handle(.writable(first, false))
        for number in 1...1000 as ClosedRange<UInt64> {
            bench.handle(.logged([line(number, number.isMultiple(of: 2) ? .info : .debug)], lost: 0))
        }
        #expect(heard(&bench) == Heard(), "nothing is queued for a slow reader")
        bench.handle(.writable(first, true))
        _ = bench.run(until: 0)
        let now = heard(&bench)
        // The plug buffers the last 200 lines. This session follows half of all lines, so it lost 400 of the first 800.
        #expect(now.numbers == Array(stride(from: 802, through: 1000, by: 2)))
        #expect(now.lost == 400)
        bench.handle(.logged([line(1001)], lost: 7))
        #expect(heard(&bench) == Heard(numbers: [1001], lost: 7), "the shell's count of lost lines is sent too")
    }

    @Test("The oldest lines are dropped when the buffered lines exceed their limit of bytes")
    func longLinesDriveOutOthersByTheirBytes() {
        var bench = Bench()
        bench.greet()
        let long = String(repeating: "x", count: 5000)
        for number in 1...100 as ClosedRange<UInt64> { bench.handle(.logged([line(number, .info, long)], lost: 0)) }
        _ = follow(&bench)
        _ = bench.run(until: 0)
        let now = heard(&bench)
        #expect(now.numbers.last == 100 && now.lost == 0)
        #expect(now.numbers.count == 32_768 / (1024 + 4 + 64))
    }

    @Test("A line that is too long is truncated between two characters")
    func aLineThatIsTooLongIsCutBetweenTwoCharacters() {
        let cut = line(1, .info, String(repeating: "ü", count: 1000))
        #expect(cut.message.utf8.count <= 1024 && cut.message.hasSuffix("ü…"))
        #expect(line(1, .info, "short").message == "short")
    }

    @Test("Events are sent before log lines, and log lines are sent in batches of 32")
    func eventsGoFirstAndLinesInPortions() {
        var bench = Bench()
        bench.greet()
        bench.say { $0.subscribe.noState = true }
        bench.handle(.logged((1...100).map { line($0) }, lost: 0))
        _ = bench.take()
        bench.handle(.writable(first, false))
        _ = follow(&bench)
        for _ in 0..<3 { bench.handle(.record(.buttonPressed(.single))) }
        bench.handle(.writable(first, true))
        let kinds = bench.take()
        let firstLines = kinds.firstIndex { if case .logLines = $0 { true } else { false } }
        let lastEvent = kinds.lastIndex { $0.sequence != nil }
        #expect(lastEvent != nil && firstLines.map { $0 > lastEvent ?? .max } == true, "\(kinds.count)")
        guard case .logLines(let portion) = kinds.last else {
            Issue.record("no lines were sent")
            return
        }
        #expect(portion.lines.count == 32)
        bench.handle(.record(.buttonPressed(.double)))
        guard case .event? = bench.take().first else {
            Issue.record("an event was sent after the rest of the log")
            return
        }
        _ = bench.run(until: 0)
        #expect(heard(&bench).numbers.last == 100)
    }

    @Test("An unpaired controller gets no log lines")
    func whoIsNotPairedGetsNothing() {
        var bench = Bench()
        bench.handle(opening(first, key: strangerKey))
        bench.handle(.logged([line(1)], lost: 0))
        let actions = follow(&bench)
        #expect(actions == [.shell(.close(first, .ended(Goodbye(.outOfOrder, "The first message must be Hello."))))])
        let kinds = bench.take()
        #expect(kinds.count == 1 && kinds[0].goodbyeReason == .outOfOrder)
    }
}
