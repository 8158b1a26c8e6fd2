import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of commands through doors (MQTT, HomeKit and Matter) and of the journal for the broker.
@Suite struct DoorTests {
    private func asked(_ number: UInt8, _ command: PlugCommand) -> PlugMachine.Event {
        .server(
            .asked(DoorCommand(command, request(number), through: .broker, ticket: UInt64(number), within: .seconds(5)))
        )
    }

    @Test("A broker's command switches the relay and is mirrored before its answer")
    func aCommandMovesTheRelayIsInTheMirrorAndThenAnswered() {
        var house = House()
        house.join(desk, name: "Desk")
        let actions = house.machine.handle(asked(1, .setRelay(on: true, autoOff: nil)), now: house.now)
        let number = house.machine.nextSequence - 1
        let cause = RelayCause.controller(name: "MQTT broker", request: request(1), authority: .broker)
        guard case .mirror(let records) = actions.first(where: { if case .mirror = $0 { true } else { false } }) else {
            return #expect(Bool(false), "\(actions)")
        }
        #expect(actions.first == .part(.setRelay(true)))
        #expect(
            records.contains { record in
                guard case .event(let event) = record else { return false }
                return event.kind == .relayChanged(on: true, cause: cause)
            })
        let answer = actions.compactMap { action -> CommandOutcome? in
            if case .server(.answer(.broker, ticket: 1, let outcome)) = action { outcome } else { nil }
        }
        #expect(answer == [.done(house.machine.state, event: number)])
        #expect(house.machine.memory.requests.map(\.command) == [CommandID(request(1), of: .broker)])
    }

    /// Commands of the broker are checked and recorded in the same way as commands of controllers.
    @Test("A broker's command to turn off a plug that is locked on is refused and recorded")
    func whatProtectionRefusesTheBrokerDoesNotGet() {
        var house = House(audit: AuditLog(), configure: { $0.powerOnState = .lockedOn })
        house.feed(asked(1, .setRelay(on: false, autoOff: nil)))
        let refusals = house.actions.compactMap { action -> Refusal.Code? in
            if case .server(.answer(.broker, ticket: 1, .refused(let refusal))) = action { refusal.code } else { nil }
        }
        #expect(refusals == [.lockedOn] && house.machine.state.relayOn)
        #expect(
            house.machine.audit?.page(after: 0, limit: nil).entries.map(\.note).contains(
                AuditNote(.refused, by: .broker, isRefused: true, "switch: locked on")) == true)
    }

    @Test("Audit notes of a door are recorded") func aDoorsOwnNotesAreInTheLog() {
        var house = House(audit: AuditLog())
        let note = AuditNote(.pairingFailed, by: .homeKit, isRefused: true)
        house.feed(.noted(note))
        #expect(house.machine.audit?.page(after: 0, limit: nil).entries.map(\.note).contains(note) == true)
    }

    /// Each HomeKit controller has its own name in events, and the rights of a user.
    @Test("The event of a HomeKit command names its controller") func aCommandByHomeKitNamesItsController() {
        var house = House()
        let by = DoorCommand(
            .setRelay(on: true, autoOff: nil), request(1), through: .homeKit, by: "5C2E81A0", ticket: 1,
            within: .seconds(5))
        house.feed(.server(.asked(by)))
        let cause = RelayCause.controller(name: "HomeKit 5C2E81A0", request: request(1), authority: .homeKit)
        let events = house.machine.journalPage(after: 0, limit: 10).entries.compactMap { entry -> PlugEvent.Kind? in
            if case .event(let event) = entry { event.kind } else { nil }
        }
        #expect(events.contains(.relayChanged(on: true, cause: cause)))
        house.feed(
            .server(
                .asked(
                    DoorCommand(.rename("Mine"), request(2), through: .homeKit, ticket: 2, within: .seconds(5)))))
        #expect(
            house.actions.contains { action in
                if case .server(.answer(.homeKit, ticket: 2, .refused(let refusal))) = action {
                    refusal.code == .notAllowed
                } else {
                    false
                }
            })
    }

    /// A Matter node has its own name in events, and the rights of a user.
    @Test("The event of a Matter command names its fabric and node") func aCommandByMatterNamesItsNode() {
        var house = House()
        let by = DoorCommand(
            .setRelay(on: true, autoOff: nil), request(1), through: .matter, by: "1/000000000001B669", ticket: 1,
            within: .seconds(5))
        house.feed(.server(.asked(by)))
        let cause = RelayCause.controller(
            name: "Matter 1/000000000001B669", request: request(1), authority: .matter)
        let events = house.machine.journalPage(after: 0, limit: 10).entries.compactMap { entry -> PlugEvent.Kind? in
            if case .event(let event) = entry { event.kind } else { nil }
        }
        #expect(events.contains(.relayChanged(on: true, cause: cause)))
        house.feed(
            .server(
                .asked(DoorCommand(.rename("Mine"), request(2), through: .matter, ticket: 2, within: .seconds(5)))))
        #expect(
            house.actions.contains { action in
                if case .server(.answer(.matter, ticket: 2, .refused(let refusal))) = action {
                    refusal.code == .notAllowed
                } else {
                    false
                }
            })
    }

    @Test("A new plug sends all of its events to the broker") func aNewPlugTellsEverything() {
        let house = House()
        #expect(PlugMachine.beginning(of: PlugMemory(appliance: ApplianceMemory(powerLost: false))) == 0)
        #expect(house.machine.journalPage(after: 0, limit: 10).entries.count == 1)
    }

    @Test("A plug with earlier events but no broker cursor sends only the events after its restart to the broker")
    func oneThatHadNoBrokerTellsWhatHappensFromNowOn() throws {
        var house = House()
        house.press()
        let next = house.machine.nextSequence
        #expect(PlugMachine.beginning(of: house.machine.memory) == next - 1)
    }

    @Test("The broker cursor survives a killed process") func whatTheBrokerHasOutlivesAKill() throws {
        var house = House()
        house.press()
        house.feed(.brokerTook(2))
        let again = try house.restarted()
        #expect(again.machine.memory.brokerCursor == 2)
        #expect(PlugMachine.beginning(of: again.machine.memory) == 2)
    }
}

extension PlugMachine {
    /// Returns the number of the event after which a plug with this memory sends its events to the broker.
    fileprivate static func beginning(of memory: PlugMemory) -> SequenceNumber {
        let identity = House().machine.identity
        return PlugMachine(ApplianceConfiguration(), identity: identity, access: .knowing(), memory: memory)
            .beginningForBroker
    }
}
