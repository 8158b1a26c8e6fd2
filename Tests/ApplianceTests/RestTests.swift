import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the rest time of a compressor, and of a plug that is locked on.
@Suite struct RestTests {
    /// Creates a bench whose relay is on and whose rest time is three minutes.
    private func on(_ adjust: (inout ApplianceConfiguration) -> Void = { _ in }) -> Bench {
        var bench = Bench(StoredState(relayOn: true), powerLost: false) {
            $0.rest = .seconds(180)
            adjust(&$0)
        }
        bench.forget()
        return bench
    }

    private func refusal(_ bench: Bench) -> Refusal? {
        if case .refused(let refusal) = bench.answers.last { refusal } else { nil }
    }

    @Test("A command during the rest time is refused with the remaining time, and the first refusal is recorded")
    func aCommandIsToldHowLongItHasToWaitAndTheFirstIsAnEvent() {
        var bench = on()
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.run(milliseconds: 30_500)
        bench.forget()
        for _ in 0..<3 { bench.command(.setRelay(on: true, autoOff: nil)) }
        #expect(
            refusal(bench)
                == Refusal(.resting, "The load must rest for another 150 s before it is turned on again."))
        #expect(bench.recorded == [.protectionTripped(.restTime)])
        #expect(bench.machine.state.tripped == nil, "a rest time must not count as a tripped protection")
        bench.run(for: .milliseconds(149_499))
        bench.command(.setRelay(on: true, autoOff: nil))
        #expect(refusal(bench)?.detail.contains("another 1 s") == true)
        #expect(bench.relay.isEmpty, "a refused command was carried out later")
        bench.run(milliseconds: 1)
        bench.command(.setRelay(on: true, autoOff: nil))
        #expect(bench.machine.state.relayOn)
    }

    @Test("A press during the rest time turns the relay on when that time is over; a second press cancels this")
    func thePressWaitsForTheEndOfTheRestAndAnotherTakesItBack() {
        var bench = on()
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.forget()
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(10))
        #expect(bench.relay.isEmpty && bench.machine.light == .resting)
        #expect(
            bench.machine.storedState.relayOn,
            "the stored state must be on, so that the relay is turned on even after a loss of power")
        #expect(bench.recorded == [.protectionTripped(.restTime), .buttonPressed(.single)])
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(300))
        #expect(bench.relay.isEmpty && bench.machine.light == .connected(lit: false))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.relay.map(\.value) == [true], "the rest time was over, so the press must turn on at once")

        var again = on()
        again.command(.setRelay(on: false, autoOff: nil))
        again.press(milliseconds: 100)
        again.run(for: .seconds(300))
        #expect(again.relay == [Timed(0, false), Timed(180_000, true)])
        #expect(again.recorded.last == .relayChanged(on: true, cause: .button))
    }

    @Test("A command to turn off cancels a turn-on that waits for the end of the rest time")
    func aCommandToTurnOffTakesItBackToo() {
        var bench = on()
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.run(for: .seconds(300))
        #expect(!bench.machine.state.relayOn && !bench.machine.storedState.relayOn)
    }

    @Test("After a loss of power, the rest time begins when the plug boots")
    func afterALossOfPowerTheRestCountsFromTheStart() {
        var bench = Bench(StoredState(relayOn: true)) { $0.rest = .seconds(180) }
        #expect(bench.relay == [Timed(0, false)])
        #expect(
            bench.recorded == [
                .restarted(powerLost: true), .protectionTripped(.restTime),
                .relayChanged(on: false, cause: .powerOn),
            ])
        bench.run(for: .seconds(181))
        #expect(bench.relay == [Timed(0, false), Timed(180_000, true)])
        #expect(bench.recorded.last == .relayChanged(on: true, cause: .powerOn))
        #expect(bench.persisted.isEmpty, "flash already has the state on, so no write is needed")
    }

    @Test("A restart of the firmware continues the rest time") func aRestartOfTheFirmwareGoesOnWithTheRest() throws {
        var house = House(rest: .seconds(180))
        house.press()
        house.run(for: .seconds(200))
        #expect(house.machine.state.relayOn)
        house.press()
        house.run(for: .seconds(50))
        house.press()
        #expect(!house.machine.state.relayOn)
        let left = house.machine.nextDelayedStart! - house.now
        var again = try house.restarted()
        #expect(!again.machine.state.relayOn)
        let changes = again.machine.memory.journal.read(after: 0, limit: 99).map(\.kind).filter {
            if case .relayChanged = $0 { true } else { false }
        }
        #expect(changes.count == 2, "the restart recorded a change of the relay: \(changes)")
        again.run(for: left - .nanoseconds(1))
        #expect(!again.machine.state.relayOn)
        again.run(for: .nanoseconds(1))
        #expect(again.machine.state.relayOn)
    }

    @Test("A protection that opens the relay begins a rest time") func protectionStartsARestLikeAnythingElse() {
        var bench = on()
        bench.load = 40_000
        bench.run(for: .seconds(7))
        #expect(bench.machine.state.tripped == .overPower)
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.tripped == nil && !bench.machine.state.relayOn && bench.machine.light == .resting)
        bench.load = 100
        bench.run(for: .seconds(180))
        #expect(bench.machine.state.relayOn)
    }

    // MARK: Locked on

    @Test("A plug that is locked on cannot be turned off") func aPlugThatIsLockedOnCannotBeTurnedOff() {
        var bench = Bench(StoredState(relayOn: false)) {
            $0.powerOnState = .lockedOn
            $0.capabilities.insert(.dimmer)
            $0.autoOff = .seconds(10)
        }
        bench.run(for: .seconds(1))
        bench.forget()
        let commands: [PlugCommand] = [
            .setRelay(on: false, autoOff: nil), .setRelay(on: true, autoOff: .seconds(5)),
            .setLevel(DimLevel(percent: 0), transition: .zero),
            .setLevel(DimLevel(percent: 0), transition: .seconds(2)),
        ]
        for command in commands {
            bench.command(command)
            #expect(refusal(bench)?.code == .lockedOn)
        }
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.command(.setLevel(DimLevel(percent: 40), transition: .zero))
        #expect(refusal(bench) == nil)
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(60))
        #expect(bench.presses.map(\.value) == [.single])
        #expect(bench.relay.isEmpty && bench.machine.state.relayOn)
    }

    @Test("A protection opens the relay of a plug that is locked on, and a press turns it on again")
    func protectionOpensAPlugThatIsLockedOnAndAPressTurnsItOnAgain() {
        var bench = Bench { $0.powerOnState = .lockedOn }
        bench.load = 40_000
        bench.run(for: .seconds(10))
        #expect(bench.machine.state.tripped == .overPower && !bench.machine.state.relayOn)
        bench.load = 100
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(10))
        #expect(bench.machine.state.relayOn)
    }

    @Test("If a plug is locked on, a press does not cancel the turn-on that waits for the end of the rest time")
    func aPressDoesNotTakeBackThePowerOnOfAPlugThatIsLockedOn() {
        var bench = Bench {
            ($0.powerOnState, $0.rest) = (.lockedOn, .seconds(180))
        }
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(181))
        #expect(bench.machine.state.relayOn)
    }
}

extension PlugMachine {
    fileprivate var nextDelayedStart: Instant? {
        memory.appliance.timers.delayed.flatMap { _ in memory.appliance.timers.offSince.map { $0 + .seconds(180) } }
    }
}
