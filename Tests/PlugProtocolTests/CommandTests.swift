import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

@Suite struct CommandTests {
    private func turnOn(
        _ bench: inout Bench, _ number: UInt8, on connection: ConnectionID = first, at seconds: Double = 0
    ) -> [PlugServer.Action] {
        bench.say(on: connection, at: seconds) {
            $0.command = WireCommand(.setRelay(on: true, autoOff: nil), request: request(number), within: .seconds(2))
        }
    }

    private func results(_ bench: inout Bench, _ connection: ConnectionID = first) throws -> [CommandOutcome] {
        try bench.take(connection).compactMap { kind in
            guard case .result(let result) = kind else { return nil }
            return try result.model().1
        }
    }

    private func carryOut(_ bench: inout Bench, _ number: UInt8) {
        bench.handle(
            .record(
                .relayChanged(
                    on: true,
                    cause: .controller(name: "Desk", request: request(number), authority: AuthorityID(deskKey)))))
        bench.handle(.commandOutcome(command(number), .done(PlugState(relayOn: true), event: nil)))
    }

    @Test("A command is answered with the state and its event")
    func aCommandIsAnsweredWithTheStateAndItsEvent() throws {
        var bench = Bench(journal: EventJournal(nextSequence: 40))
        bench.greet()
        #expect(
            turnOn(&bench, 1, at: 3) == [
                .perform(command(1), controller: "Desk", .setRelay(on: true, autoOff: nil), deadline: at(5))
            ])
        carryOut(&bench, 1)
        #expect(try results(&bench) == [.done(PlugState(relayOn: true), event: 40)])
    }

    @Test("A command that resets a protection is answered with the event that it caused, also after a restart")
    func theEventOfAResetIsThatOfTheCommand() throws {
        var bench = Bench(state: PlugState(relayOn: false, tripped: .overPower))
        bench.greet()
        bench.say { $0.command = WireCommand(.resetProtection, request: request(1), within: .seconds(2)) }
        bench.handle(
            .record(
                .protectionReset(
                    .overPower, cause: .controller(name: "Desk", request: request(1), authority: AuthorityID(deskKey))))
        )
        bench.handle(.record(.protectionReset(.overPower, cause: .button)))
        bench.handle(.commandOutcome(command(1), .done(PlugState(relayOn: false), event: nil)))
        let answer = CommandOutcome.done(PlugState(relayOn: false), event: 1)
        #expect(try results(&bench) == [answer])
        // The journal still has the event after a restart.
        var restarted = Bench(journal: bench.server.journal, state: PlugState(relayOn: false))
        restarted.greet()
        restarted.say { $0.command = WireCommand(.resetProtection, request: request(1), within: .seconds(2)) }
        #expect(try results(&restarted) == [answer])
    }

    @Test("A command that is read after its time is dropped; a later copy is executed once")
    func aLateCommandIsDropped() throws {
        var bench = Bench()
        bench.greet()
        func turnOn(until end: Double, at seconds: Double) -> [PlugServer.Action] {
            bench.say(at: seconds) {
                $0.command = WireCommand(
                    .setRelay(on: true, autoOff: nil), request: request(1), within: .seconds(5), until: at(end))
            }
        }
        #expect(turnOn(until: 5, at: 9).isEmpty)
        #expect(try results(&bench).isEmpty)
        #expect(
            turnOn(until: 10, at: 9) == [
                .perform(command(1), controller: "Desk", .setRelay(on: true, autoOff: nil), deadline: at(10))
            ])
        carryOut(&bench, 1)
        let answer = CommandOutcome.done(PlugState(relayOn: true), event: 1)
        #expect(try results(&bench) == [answer])
        #expect(turnOn(until: 5, at: 9).isEmpty)
        #expect(try results(&bench) == [answer], "the answer of an executed command does not expire")
    }

    @Test("A repeated request gets the same answer and is not executed twice")
    func theSameRequestGetsTheSameAnswerAndIsNotCarriedOutTwice() throws {
        var bench = Bench()
        bench.greet(first)
        bench.greet(second)
        #expect(turnOn(&bench, 1).count == 1)
        #expect(turnOn(&bench, 1).isEmpty)
        #expect(turnOn(&bench, 1, on: second).isEmpty)
        carryOut(&bench, 1)
        let answer = CommandOutcome.done(PlugState(relayOn: true), event: 1)
        #expect(try results(&bench, first) == [answer])
        #expect(try results(&bench, second) == [answer])
        bench.handle(.record(.relayChanged(on: false, cause: .button)))
        #expect(turnOn(&bench, 1).isEmpty)
        #expect(try results(&bench) == [answer])
    }

    @Test("A controller that reconnects gets the answer to its earlier command")
    func whoCameBackGetsTheAnswerOfTheCommandItSentBefore() throws {
        var bench = Bench()
        bench.greet(first)
        _ = turnOn(&bench, 1)
        bench.handle(.closed(first))
        bench.greet(second)
        #expect(turnOn(&bench, 1, on: second).isEmpty)
        carryOut(&bench, 1)
        #expect(try results(&bench, second).count == 1)
    }

    @Test("A plug that restarts with its journal remembers executed requests")
    func aRestartWithItsJournalRemembersWhatWasCarriedOut() throws {
        var bench = Bench()
        bench.greet()
        _ = turnOn(&bench, 1)
        carryOut(&bench, 1)
        var restarted = Bench(journal: bench.server.journal, state: PlugState(relayOn: false))
        restarted.greet()
        #expect(turnOn(&restarted, 1).isEmpty)
        #expect(try results(&restarted) == [.done(PlugState(relayOn: false), event: 1)])
    }

    @Test("The seventeenth command in flight is refused, and is accepted when it is repeated after one has ended")
    func theSeventeenthCommandIsRefusedAndMayComeAgain() throws {
        var bench = Bench()
        bench.greet()
        for number in 1...16 { #expect(turnOn(&bench, UInt8(number)).count == 1) }
        #expect(turnOn(&bench, 17).isEmpty)
        guard case .refused(let refusal) = try results(&bench).first else {
            Issue.record("the seventeenth command was accepted")
            return
        }
        #expect(refusal.code == .busy)
        carryOut(&bench, 1)
        #expect(turnOn(&bench, 17).count == 1)
    }

    @Test("Old outcomes are forgotten, oldest first")
    func oldOutcomesAreForgottenOldestFirst() {
        var limits = PlugServer.Limits()
        limits.recentOutcomes = 3
        var bench = Bench(limits: limits)
        bench.greet()
        for number in 1...4 as ClosedRange<UInt8> {
            _ = turnOn(&bench, number)
            carryOut(&bench, number)
        }
        #expect(turnOn(&bench, 2).isEmpty)
        #expect(turnOn(&bench, 1).count == 1)
    }

    @Test("A command that the plug does not support or that is out of range is refused with the reason")
    func whatThePlugCannotTryIsRefusedWithItsReason() throws {
        var bench = Bench()
        bench.greet()
        bench.say { $0.command.requestID = .init(request(1).bytes) }
        bench.say {
            $0.command.requestID = .init(request(2).bytes)
            $0.command.setLevel.levelPermille = 1001
        }
        let codes = try results(&bench).map { outcome -> Refusal.Code? in
            guard case .refused(let refusal) = outcome else { return nil }
            return refusal.code
        }
        #expect(codes == [.unsupported, .outOfRange])
    }

    @Test("A request id of a wrong length ends the session")
    func aRequestIDOfTheWrongLengthEndsTheSession() {
        var bench = Bench()
        bench.greet()
        bench.say { $0.command.requestID = .init([1, 2, 3]) }
        guard case .goodbye(let goodbye) = bench.take().first else {
            Issue.record("the session did not end")
            return
        }
        #expect(goodbye.detail == "request_id has 3 bytes; 16 to 16 are allowed")
    }

    @Test("A stored outcome of the previous process answers the repeated request")
    func anOutcomeOfTheLifeBeforeAnswersTheRequestThatComesAgain() throws {
        var before = Bench()
        before.greet()
        _ = turnOn(&before, 1)
        carryOut(&before, 1)
        _ = turnOn(&before, 2)
        // This command recorded no event, so only its outcome shows that it was executed.
        before.handle(.commandOutcome(command(2), .done(watts(5, at: 1), event: nil)))
        #expect(before.server.outcome(of: command(2)) == .done(watts(5, at: 1), event: nil))
        #expect(before.server.outcome(of: command(3)) == nil)
        let kept = before.server.finishedRequests
        #expect(kept.map(\.command) == [command(1), command(2)])

        var after = Bench(journal: before.server.journal, requests: kept)
        after.greet()
        #expect(turnOn(&after, 2).isEmpty)
        #expect(turnOn(&after, 1).isEmpty)
        #expect(
            try results(&after) == [.done(watts(5, at: 1), event: nil), .done(PlugState(relayOn: true), event: 1)])
        #expect(after.server.finishedRequests == kept)
    }

    @Test("Only the newest outcomes are restored")
    func onlyTheLastOutcomesAreTakenOver() {
        var limits = PlugServer.Limits()
        limits.recentOutcomes = 3
        let outcomes = (1...5).map { FinishedRequest(command($0), .done(PlugState(relayOn: true), event: nil)) }
        let bench = Bench(requests: outcomes + outcomes.suffix(2), limits: limits)
        #expect(bench.server.finishedRequests.map(\.command) == [command(3), command(4), command(5)])
    }
}
