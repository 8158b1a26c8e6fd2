import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of events that occur faster than flash can reserve their numbers. These events wait; the relay and the state
/// do not.
@Suite struct WaitingEventsTests {
    /// The boundary: all numbers below it are reserved.
    private let reserved: SequenceNumber = 5

    /// Creates a plug with few reserved numbers. Its flash finishes a write only when the test calls
    /// `answerFlash()`. The plug's start is event 1.
    private func slowHouse(
        joining: Bool = true, configure: (inout ApplianceConfiguration) -> Void = { _ in }
    ) -> House {
        var limits = PlugMemory.Limits()
        limits.reservation = reserved - 1
        var house = House(
            PlugMemory(appliance: ApplianceMemory(powerLost: false), limits: limits), configure: configure)
        house.boundary = reserved
        house.isFlashSlow = true
        if joining { house.join(desk, name: "Desk") }
        return house
    }

    private func told(_ house: House) -> [SequenceNumber] { house.events(desk).map(\.sequence) }

    @Test("Events wait for flash in order and keep their times")
    func eventsWaitForFlashInTheirOrderAndWithTheirTimes() {
        var house = slowHouse()
        for _ in 0..<4 { house.press() }
        #expect(told(house) == [2, 3, 4])
        #expect(house.machine.memory.unnumbered.count == 5)
        house.answerFlash()
        #expect(house.gaps(desk).isEmpty)
        #expect(
            told(house) == Array(2...6),
            "the first boundary was requested before an event waited, so it covers only two waiting events")
        house.answerFlash()
        #expect(told(house) == Array(2...9))
        let events = house.events(desk)
        #expect(events.map(\.time) == events.map(\.time).sorted())
        #expect(
            events.last.map { house.now - $0.time >= .milliseconds(500) } == true,
            "the event must have the time at which it happened")
        #expect(events.filter { $0.kind == .buttonPressed(.single) }.count == 4)
        #expect(house.gaps(desk).isEmpty)
    }

    @Test("While events wait for flash, the relay still switches and the state is still reported")
    func theRelayAndTheStateWaitForNothing() {
        var house = slowHouse()
        house.press()
        house.press()
        house.actions = []
        house.edge(down: true)
        house.run(for: .milliseconds(100))
        house.edge(down: false)
        house.run(for: .milliseconds(30))
        #expect(house.machine.memory.unnumbered.count == 2)
        #expect(house.actions.contains(.part(.setRelay(true))))
        let states = house.heard[desk, default: []].compactMap { update -> Bool? in
            if case .state(let state) = update { state.relayOn } else { nil }
        }
        #expect(states.last == true)
    }

    @Test("The answer to a command is sent only after the event that records the command has a number")
    func aCommandIsAnsweredWithTheEventThatRecordsIt() {
        var house = slowHouse()
        house.press()
        house.press()
        house.command(request(1), .setRelay(on: true, autoOff: nil))
        house.command(request(2), .setRelay(on: true, autoOff: nil))
        #expect(house.machine.state.relayOn)
        #expect(house.outcomes(desk, of: request(1)).isEmpty)
        #expect(house.outcomes(desk, of: request(2)).count == 1, "a command without effect must be answered at once")
        while house.asked != nil { house.answerFlash() }
        guard case .done(let state, let number?) = house.outcomes(desk, of: request(1)).first else {
            Issue.record("\(house.outcomes(desk, of: request(1)))")
            return
        }
        #expect(state.relayOn)
        let kinds = house.events(desk).filter { $0.sequence == number }.map(\.kind)
        #expect(
            kinds == [.relayChanged(on: true, cause: .controller(name: "Desk", request: request(1), authority: .desk))])
    }

    @Test("If flash does not answer within ten seconds, events no longer wait and numbers are skipped")
    func aFlashThatTakesTooLongIsWaitedForNoLonger() {
        var house = slowHouse()
        // The boundary is requested at the first event, 120 ms from now, when the press has been debounced.
        let asked = house.now + .milliseconds(120)
        house.press()
        #expect(house.asked != nil)
        house.press()
        house.run(for: ReservedNumbers.patience - (house.now - asked) - .nanoseconds(1))
        #expect(house.gaps(desk).isEmpty)
        house.run(for: .nanoseconds(1))
        #expect(house.gaps(desk).map(\.reason) == [.storageFailed])
        #expect(house.gaps(desk).first?.from == reserved)
        #expect(house.events(desk).count == 4)
        #expect(house.machine.memory.unnumbered.isEmpty)
        // Flash answers late, and further boundaries are stored at once. The plug uses reserved numbers again.
        house.isFlashSlow = false
        house.answerFlash()
        for _ in 0..<100 { house.press() }
        #expect(house.gaps(desk).count == 1)
        #expect(house.events(desk).count == 204)
    }

    @Test("If flash fails, events no longer wait") func aFlashThatFailsIsWaitedForNoLonger() {
        var house = slowHouse()
        house.press()
        house.press()
        #expect(house.machine.memory.unnumbered.count == 1)
        house.isFlashWritable = false
        house.feed(.reservationFailed)
        #expect(house.gaps(desk).map(\.reason) == [.storageFailed])
        #expect(house.machine.memory.unnumbered.isEmpty)
        #expect(house.events(desk).count == 4)
    }

    @Test("The next process numbers the waiting events of a killed process")
    func aKilledProcessLeavesThemToTheNext() throws {
        var house = slowHouse()
        house.press()
        house.press()
        house.command(request(1), .setRelay(on: true, autoOff: nil))
        let waiting = house.machine.memory.unnumbered
        #expect(waiting.count == 2 && house.outcomes(desk, of: request(1)).isEmpty)

        var again = try house.restarted()
        again.join(desk, name: "Desk", events: .after(reserved - 1))
        #expect(again.gaps(desk).isEmpty)
        let events = again.events(desk)
        #expect(events.dropLast().map { UnnumberedEvent($0.kind, at: $0.time) } == waiting)
        #expect(events.map(\.sequence) == [reserved, reserved + 1, reserved + 2])
        #expect(events.last?.kind == .restarted(powerLost: false))
        let next = again.machine.nextSequence
        again.command(request(1), .setRelay(on: true, autoOff: nil))
        #expect(again.machine.nextSequence == next, "a repeated request was carried out again")
        #expect(again.outcomes(desk, of: request(1)) == [.done(PlugState(relayOn: true), event: reserved + 1)])
        // The third process reads these events with their numbers.
        let third = try again.restarted()
        #expect(third.machine.nextSequence == next + 1)
    }

    @Test("Waiting events get the next numbers after an orderly stop")
    func afterAnOrderlyStopTheyAreTheNextOnes() throws {
        var house = slowHouse()
        house.press()
        house.press()
        house.press()
        let waiting = house.machine.memory.unnumbered
        house.isFlashSlow = false
        house.feed(.stopping)
        // After a loss of power at this moment, these events are reported as lost.
        #expect(house.boundary == reserved + 3)
        var again = try house.restarted()
        again.join(desk, name: "Desk", events: .after(reserved - 1))
        #expect(again.events(desk).dropLast().map { UnnumberedEvent($0.kind, at: $0.time) } == waiting)
        #expect(again.gaps(desk).isEmpty)
    }

    @Test("A factory reset skips the numbers of waiting events") func aFactoryResetLeavesTheirNumbersOut() {
        var house = slowHouse()
        house.press()
        house.press()
        #expect(house.machine.memory.unnumbered.count == 1)
        house.isFlashSlow = false
        house.feed(.factoryReset)
        #expect(house.machine.isStopped)
        #expect(house.boundary == reserved + 1)
    }

    @Test("A client that reconnects receives the events that waited") func whoComesBackHearsThem() {
        var house = slowHouse()
        house.press()
        house.command(request(1), .setRelay(on: false, autoOff: nil))
        house.press()
        house.feed(.server(.closed(desk)))
        house.controllers[desk] = nil
        while house.asked != nil { house.answerFlash() }
        house.join(hall, name: "Hall", events: .after(1))
        #expect(house.events(hall).map(\.sequence) == Array(2..<house.machine.nextSequence))
        #expect(house.gaps(hall).isEmpty)
        #expect(house.machine.memory.unnumbered.isEmpty)
    }

    @Test("If more events wait than the limit allows, they wait no longer, and numbers are skipped")
    func moreThanTheLimitDoNotWait() {
        var house = slowHouse(joining: false) {
            $0.debounce = .zero; $0.doublePressWindow = .zero
        }
        var now = house.now
        var most = 0
        // The presses are faster than any finger, and all come before the timeout of the write to flash.
        while house.machine.nextSequence < ReservedNumbers.leapRange.lowerBound, now < at(5) {
            for down in [true, false] {
                now = now + .microseconds(100)
                _ = house.machine.handle(.appliance(.buttonEdge(down: down, at: now)), now: now)
            }
            most = max(most, house.machine.waiting.count)
        }
        // A press causes two events.
        #expect((PlugMachine.mostWaiting - 1...PlugMachine.mostWaiting).contains(most))
        #expect(house.machine.waiting.isEmpty)
        #expect(house.machine.memory.journal.leap?.reason == .storageFailed)
        #expect(house.machine.memory.journal.count == EventJournal.Limits().events)
    }
}
