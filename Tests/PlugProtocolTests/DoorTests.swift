import ProtocolCore
import Testing

@testable import PlugProtocol
import PlugModel

/// Commands that arrive through a door, such as the MQTT broker, together with commands of sessions.
@Suite struct DoorTests {
    private func asked(
        _ number: UInt8, ticket: UInt64 = 1, _ command: PlugCommand = .setRelay(on: true, autoOff: nil)
    ) -> PlugServer.ShellEvent {
        .asked(DoorCommand(command, request(number), through: .broker, ticket: ticket, within: .seconds(3)))
    }

    private func id(_ number: UInt8) -> CommandID { CommandID(request(number), of: .broker) }

    private let done = CommandOutcome.done(PlugState(relayOn: true), event: 40)

    @Test("A door's command is executed in the door's name and answered, and a repeated one gets the same answer")
    func aCommandIsCarriedOutInTheNameOfItsDoorAndAnswered() {
        var bench = Bench(journal: EventJournal(nextSequence: 40))
        #expect(
            bench.handle(asked(1, ticket: 9), at: 3) == [
                .perform(id(1), controller: "MQTT broker", .setRelay(on: true, autoOff: nil), deadline: at(6))
            ])
        bench.handle(
            .record(
                .relayChanged(
                    on: true, cause: .controller(name: "MQTT broker", request: request(1), authority: .broker))))
        let answers = bench.handle(.commandOutcome(id(1), .done(PlugState(relayOn: true), event: nil)))
        #expect(answers == [.shell(.answer(.broker, ticket: 9, done))])
        // A repeated command was executed already, so its new ticket is answered at once.
        #expect(bench.handle(asked(1, ticket: 10)) == [.shell(.answer(.broker, ticket: 10, done))])
    }

    @Test("Two tickets with the same request get the same outcome")
    func twoThatAskForTheSameWaitForOneOutcome() {
        var bench = Bench(journal: EventJournal(nextSequence: 40))
        bench.handle(asked(1, ticket: 1))
        #expect(bench.handle(asked(1, ticket: 2)).isEmpty)
        #expect(
            bench.handle(.commandOutcome(id(1), done)) == [
                .shell(.answer(.broker, ticket: 1, done)), .shell(.answer(.broker, ticket: 2, done)),
            ])
    }

    @Test("A controller's request and a door's request with the same id are different commands")
    func aRequestOfAControllerIsAnotherThanTheSameOfADoor() {
        var bench = Bench()
        bench.greet()
        bench.handle(asked(1))
        let actions = bench.say {
            $0.command = WireCommand(.setRelay(on: true, autoOff: nil), request: request(1), within: .seconds(2))
        }
        #expect(actions.map { if case .perform(command(1), _, _, _) = $0 { true } else { false } } == [true])
    }

    @Test("A door has the rights of a user")
    func itMayDoWhatAUserMay() {
        var bench = Bench()
        guard case .shell(.answer(_, 1, .refused(let refusal)))? = bench.handle(asked(1, .rename("Mine"))).first else {
            return #expect(Bool(false), "the command was not refused at once")
        }
        #expect(refusal.code == .notAllowed)
        #expect(
            bench.server.notes == [AuditNote(.refused, by: .broker, isRefused: true, "rename: not allowed")])
    }

    @Test("A refusal is noted in the audit log in the door's name")
    func aRefusalIsNotedInItsName() {
        var bench = Bench()
        bench.handle(asked(1))
        bench.handle(.commandOutcome(id(1), .refused(Refusal(.protectionTripped, "Too much."))))
        #expect(
            bench.server.notes == [
                AuditNote(.refused, by: .broker, isRefused: true, "switch: protection tripped")
            ])
    }

    /// Removing a controller keeps the outcomes of doors.
    @Test("A door's outcomes remain when a controller is removed")
    func itsAnswersOutliveAController() {
        var bench = Bench(paired: [deskKey, ownerKey])
        bench.handle(asked(1))
        bench.handle(.commandOutcome(id(1), done))
        bench.handle(.removeController(fingerprint: ownerKey.fingerprint))
        #expect(bench.server.finishedRequests.map(\.command) == [id(1)])
        let again = Bench(requests: bench.server.finishedRequests)
        #expect(again.server.outcome(of: id(1)) == done)
    }
}
