import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import Appliance

/// Tests of pairing with the whole plug: the writes, their order and the result.
@Suite struct PairingTests {
    private let tablet = ConnectionID(rawValue: 9)

    /// Runs a pairing attempt of a stranger that uses the code. Returns the plug's actions for the last message of the
    /// stranger, in order.
    @discardableResult
    private func pair(
        _ house: inout House, code: SetupCode = .label, on tablet: ConnectionID = ConnectionID(rawValue: 9)
    ) -> [PlugMachine.Action] {
        var session = PairingSession(name: "Tablet", code: code)
        house.feed(.server(.opened(PlugServer.Opening(tablet, of: .stranger))))
        var said = session.handle(
            .connected(plugKey: .plug, ownKey: .stranger, nonce: [UInt8](repeating: 9, count: 32)), now: house.now)
        var last: [PlugMachine.Action] = []
        while let index = said.firstIndex(where: { if case .send = $0 { true } else { false } }) {
            guard case .send(let bytes) = said[index] else { break }
            said = []
            last = house.machine.handle(.server(.received(tablet, bytes)), now: house.now)
            for case .server(.send(tablet, let answer)) in last {
                said += session.handle(.received(answer), now: house.now)
            }
        }
        return last
    }

    private func hold(_ house: inout House) {
        house.edge(down: true)
        house.run(for: .seconds(6))
        house.edge(down: false)
        house.run(for: .seconds(1))
    }

    @Test("A pairing is in mirror and flash before the controller is notified")
    func whoIsPairedStandsInMirrorAndFlashBeforeHeHearsOfIt() throws {
        var house = House(access: .knowing([]))
        house.run(for: .seconds(1))
        let actions = pair(&house)
        let list = PairedControllers([PairedControllers.Controller(key: .stranger, name: "Tablet")])
        #expect(house.machine.access.controllers == list)
        let mirrored = try #require(actions.first)
        guard case .mirror(let records) = mirrored, case .event(let event) = records.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(event.kind == .controllerPaired(name: "Tablet"))
        #expect(actions.dropFirst().first == .keep(list))
        guard case .server(.send(tablet, _)) = actions.dropFirst(2).first else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test("The pairing window is announced while it is open") func aWindowIsAnnouncedWhileItIsOpen() {
        var house = House(access: .knowing([]))
        #expect(house.windows == [true])
        house.run(for: .seconds(599))
        #expect(house.windows == [true])
        house.run(for: .seconds(1))
        #expect(house.windows == [true, false])
        hold(&house)
        #expect(house.windows == [true, false, true])
        house.run(for: .seconds(120))
        #expect(house.windows == [true, false, true, false])
    }

    @Test("A paired plug opens its pairing window only for a held button")
    func aPairedPlugOpensItsWindowForAHeldButtonAlone() {
        var house = House()
        house.press()
        #expect(house.windows == [])
        pair(&house)
        #expect(house.machine.access.controllers.all.count == 1)
        hold(&house)
        pair(&house)
        #expect(house.windows == [true])
        #expect(house.machine.access.controllers.all.count == 2)
    }

    @Test("A wrong code is recorded as an event") func wrongCodesAreEventsThatASubscriberHears() {
        var house = House()
        house.join(desk, name: "Desk")
        hold(&house)
        pair(&house, code: try! SetupCode(text: "AAAA-AAAA-AAAA-AAAA"))
        // The session of `pair` received the answer. The event is only in the plug's journal.
        #expect(house.machine.memory.journal.read(after: 0, limit: 99).last?.kind == .pairingFailed(failures: 1))
    }

    @Test("An event and a wrong code at the same time are mirrored in the order of their numbers")
    func anEventAndAGuessOfTheSameMomentAreMirroredInTheOrderOfTheirNumbers() {
        var house = House(access: .knowing([]))
        house.run(for: .seconds(1))
        let wrong = try! SetupCode(text: "AAAA-AAAA-AAAA-AAAA")
        pair(&house, code: wrong)
        // The plug checks this second proof only half a second after the first one.
        pair(&house, code: wrong, on: hall)
        _ = house.machine.handle(.appliance(.buttonEdge(down: true, at: house.now)), now: house.now)
        house.now = house.now + .milliseconds(480)
        _ = house.machine.handle(.appliance(.buttonEdge(down: false, at: house.now)), now: house.now)
        house.now = house.now + .milliseconds(20)
        let actions = house.machine.handle(.deadlineReached, now: house.now)
        let events = actions.flatMap { action -> [PlugEvent] in
            guard case .mirror(let records) = action else { return [] }
            return records.compactMap { if case .event(let event) = $0 { event } else { nil } }
        }
        #expect(events.map(\.kind).contains(.pairingFailed(failures: 2)))
        #expect(events.map(\.kind).contains(.relayChanged(on: true, cause: .button)))
        #expect(events.map(\.sequence) == events.map(\.sequence).sorted())
    }

    @Test("A list of controllers that flash did not store is written again")
    func aListThatFlashDidNotTakeIsWrittenAgain() {
        var house = House(access: .knowing([.desk, .stranger]))
        house.join(desk, name: "Desk")
        house.isFlashWritable = false
        house.actions = []
        house.hear(desk, .request(.removeController(fingerprint: PublicKey.stranger.fingerprint)))
        let list = PlugServer.Access.knowing().controllers
        #expect(house.kept == [list])
        house.run(for: .seconds(299))
        #expect(house.kept == [list])
        house.isFlashWritable = true
        house.run(for: .seconds(6))
        #expect(house.kept == [list, list])
        house.run(for: .seconds(1000))
        house.feed(.stopping)
        #expect(house.kept == [list, list])
    }

    @Test("An orderly stop retries a failed write of the controllers") func aStopTriesOnceMore() {
        var house = House(access: .knowing([.desk, .stranger]))
        house.join(desk, name: "Desk")
        house.isFlashWritable = false
        house.hear(desk, .request(.removeController(fingerprint: PublicKey.stranger.fingerprint)))
        house.feed(.stopping)
        #expect(house.kept.count == 2)
    }
}

extension House {
    fileprivate var windows: [Bool] {
        actions.compactMap { if case .server(.pairingWindow(let isOpen)) = $0 { isOpen } else { nil } }
    }
    fileprivate var kept: [PairedControllers] {
        actions.compactMap { if case .keep(let controllers) = $0 { controllers } else { nil } }
    }
}
