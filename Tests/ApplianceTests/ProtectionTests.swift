import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the protections: when they trip, what the plug does then, and how they are reset.
@Suite struct ProtectionTests {
    private func on(_ adjust: (inout ApplianceConfiguration) -> Void = { _ in }) -> Bench {
        var bench = Bench(StoredState(relayOn: true), powerLost: false, adjust)
        bench.isMetered = false
        bench.run(for: .seconds(1))
        bench.forget()
        return bench
    }

    /// Feeds the measurement every second until a protection trips, for at most a minute.
    private func measure(_ bench: inout Bench, _ measurement: Measurement) {
        for _ in 0..<60 where bench.machine.state.tripped == nil {
            bench.now = bench.now + .seconds(1)
            bench.feed(.measured(measurement))
        }
    }

    private static let limits: [(Protection, Measurement)] = [
        (.overPower, Measurement(deciwatts: 36_801)), (.overPower, Measurement(deciwatts: -36_801)),
        (.overCurrent, Measurement(deciwatts: 100, milliamperes: 32_000)),
        (.overCurrent, Measurement(deciwatts: 100, milliamperes: 40_001)),
        (.overVoltage, Measurement(deciwatts: 100, decivolts: 2751)),
        (.underVoltage, Measurement(deciwatts: 100, decivolts: 1700)),
    ]

    @Test("Each protection trips with its own event and locks the relay", arguments: limits)
    func eachTripsWithAnEventOfItsOwnAndLocksTheRelay(_ what: Protection, _ much: Measurement) {
        var bench = on { $0.underVoltage = VoltageLimit(decivolts: 1800, duration: .seconds(5)) }
        measure(&bench, much)
        #expect(bench.recorded == [.protectionTripped(what), .relayChanged(on: false, cause: .protection)])
        #expect(bench.machine.state.tripped == what && bench.states.last?.value.tripped == what)
        #expect(bench.machine.light == .tripped)
        #expect(bench.persisted.last?.value.tripped == what, "the trip was not stored at once")
        bench.forget()
        for command in [PlugCommand.setRelay(on: true, autoOff: nil), .setRelay(on: false, autoOff: nil)] {
            bench.command(command)
        }
        guard case .refused(let refusal) = bench.answers.first else {
            Issue.record("\(bench.answers)")
            return
        }
        #expect(refusal.code == .protectionTripped)
        #expect(bench.machine.state.tripped == what && bench.relay.isEmpty)
    }

    @Test("Each protection can be disabled", arguments: limits)
    func eachCanBeTurnedOff(_ what: Protection, _ much: Measurement) {
        var bench = on {
            ($0.overPower, $0.overCurrent, $0.overVoltage, $0.underVoltage) = (nil, nil, nil, nil)
        }
        measure(&bench, much)
        #expect(bench.machine.state.tripped == nil)
    }

    @Test("Measurements exactly at the limits do not trip") func theMeasurementAtTheLimitItselfIsAllowed() {
        var bench = on()
        measure(
            &bench, Measurement(deciwatts: 36_800, decivolts: 2750, milliamperes: 16_000))
        #expect(bench.recorded.isEmpty)
    }

    @Test("A current through the open relay trips the welded-relay protection, which locks the relay")
    func currentThroughAnOpenRelayIsAnAlarmAndLocks() throws {
        var bench = Bench(powerLost: false)
        bench.isMetered = false
        for (deciwatts, milliamperes) in [(100, 100), (0, 3)] as [(Int32, UInt32)] {
            bench.forget()
            measure(&bench, Measurement(deciwatts: deciwatts, milliamperes: milliamperes))
            #expect(bench.recorded.isEmpty, "a small current through the open relay was reported as a welded relay")
        }
        let start = bench.now
        measure(&bench, Measurement(deciwatts: 0, milliamperes: 101))
        #expect(bench.now - start == .seconds(6), "the trip must come after five seconds of measurements")
        #expect(bench.recorded == [.protectionTripped(.weldedRelay)])
        #expect(bench.relay.map(\.value) == [false], "the plug must try once more to open the relay")
        #expect(bench.machine.state.tripped == .weldedRelay)
        bench.command(.setRelay(on: true, autoOff: nil))
        let refusal = try bench.refusal()
        #expect(refusal.detail.contains("the plug cannot stop it"))
        bench.forget()
        measure(&bench, Measurement(deciwatts: 5000))
        #expect(bench.recorded.isEmpty, "the welded relay was reported twice")
        bench.command(.resetProtection)
        measure(&bench, Measurement(deciwatts: 5000))
        #expect(
            bench.recorded.last == .protectionTripped(.weldedRelay),
            "the welded relay must be reported again after a reset")
    }

    @Test("A locked relay that still conducts is reported as welded") func aLockThatDoesNotHoldIsToldToo() {
        var bench = on()
        measure(&bench, Measurement(deciwatts: 40_000))
        #expect(bench.machine.state.tripped == .overPower)
        for _ in 0..<10 {
            bench.now = bench.now + .seconds(1)
            bench.feed(.measured(Measurement(deciwatts: 40_000)))
        }
        #expect(bench.recorded.last == .protectionTripped(.weldedRelay))
        #expect(bench.machine.state.tripped == .weldedRelay)
    }

    @Test("An overheated plug stays locked until it has cooled down")
    func whatIsTooHotStaysLockedUntilItHasCooledDown() throws {
        var bench = on { $0.hasThermometer = true }
        bench.feed(.temperature(860))
        #expect(bench.machine.state.tripped == nil)
        bench.feed(.temperature(861))
        #expect(bench.machine.state.tripped == .overTemperature && !bench.machine.state.relayOn)
        bench.feed(.temperature(705))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.presses.map(\.value) == [.single], "the press was not reported")
        bench.command(.resetProtection)
        let refusal = try bench.refusal()
        #expect(refusal.detail == "The plug is still too hot: 70 °C. Let it cool down, then reset it.")
        #expect(bench.machine.state.tripped == .overTemperature && !bench.machine.state.relayOn)
        bench.feed(.temperature(700))
        bench.press(milliseconds: 100)
        #expect(bench.machine.state.relayOn == false)
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.tripped == nil && bench.machine.state.relayOn)
    }

    @Test("A short press resets a tripped protection and turns the relay on; a long press is only reported")
    func thePressResetsAndTurnsOnAndALongOneDoesNeither() {
        var bench = on()
        measure(&bench, Measurement(deciwatts: 40_000))
        bench.forget()
        bench.press(milliseconds: 1500)
        bench.run(for: .seconds(1))
        #expect(bench.recorded == [.buttonPressed(.long)])
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(
            bench.recorded.dropFirst() == [
                .protectionReset(.overPower, cause: .button), .relayChanged(on: true, cause: .button),
                .buttonPressed(.single),
            ])
    }

    @Test("A reset without a tripped protection changes nothing") func aResetOfNothingChangesNothing() {
        var bench = on()
        let request = bench.command(.resetProtection)
        #expect(bench.log.map(\.action) == [.commandDone(request, .done(bench.machine.state, recorded: false))])
    }

    @Test("A trip survives restarts and losses of power", arguments: PowerOnState.allCases, [true, false])
    func aLockOutlivesRestartsAndLossesOfPower(policy: PowerOnState, powerLost: Bool) {
        let stored = StoredState(relayOn: false, milliwattHours: 7, tripped: .overCurrent)
        var bench = Bench(stored, powerLost: powerLost) { $0.powerOnState = policy }
        #expect(bench.relay == [Timed(0, false)])
        #expect(bench.recorded == [.restarted(powerLost: powerLost)])
        #expect(bench.machine.state.tripped == .overCurrent && bench.machine.light == .tripped)
        bench.command(.setRelay(on: true, autoOff: nil))
        #expect(!bench.machine.state.relayOn)
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.relayOn && bench.machine.storedState.tripped == nil)
    }

    @Test("A silent meter interrupts an overload") func aSilentMeterCountsForNothing() {
        var bench = on()
        bench.feed(.measured(Measurement(deciwatts: 40_000)))
        // The overload lasts for four of the five seconds. Then the meter is silent until the reading expires.
        bench.now = bench.now + .seconds(4)
        bench.feed(.measured(Measurement(deciwatts: 40_000)))
        bench.run(for: .seconds(10))
        bench.feed(.measured(Measurement(deciwatts: 40_000)))
        #expect(bench.machine.state.relayOn)
    }

    @Test("Commands that switch too often trip the protection, and the button still works")
    func switchedTooOftenByCommandsItLocksAndTheButtonGoesOnWorking() {
        var bench = on { $0.switchingRate = SwitchingRate(count: 4, window: .seconds(60)) }
        for _ in 0..<20 {
            bench.press(milliseconds: 100)
            bench.run(for: .seconds(1))
        }
        #expect(bench.machine.state.relayOn && bench.machine.state.tripped == nil)
        bench.forget()
        for number in 0..<5 { bench.command(.setRelay(on: number.isMultiple(of: 2) == false, autoOff: nil)) }
        // The commands are off, on, off, on, off. The fifth command is carried out, and the protection trips.
        #expect(bench.relay.map(\.value) == [false, true, false, true, false])
        #expect(bench.recorded.last == .protectionTripped(.switchingRate))
        #expect(bench.machine.state.tripped == .switchingRate)
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.machine.state.relayOn && bench.machine.state.tripped == nil)
    }

    @Test("A command to turn on that exceeds the switching rate is refused")
    func aTurnOnThatIsOneTooManyIsRefusedAndNotMade() throws {
        var bench = on {
            $0.switchingRate = SwitchingRate(count: 3, window: .seconds(60))
            $0.capabilities.insert(.dimmer)
        }
        for on in [false, true, false] { bench.command(.setRelay(on: on, autoOff: nil)) }
        bench.forget()
        bench.command(.setLevel(DimLevel(percent: 30), transition: .zero))
        let refusal = try bench.refusal()
        #expect(refusal.code == .protectionTripped)
        #expect(bench.recorded == [.protectionTripped(.switchingRate)])
        #expect(bench.relay.isEmpty && bench.dimmer.isEmpty)
    }

    @Test("Auto-off timers count toward the switching rate") func timersCountAsSwitchesToo() {
        var bench = on { $0.switchingRate = SwitchingRate(count: 4, window: .seconds(600)) }
        for _ in 0..<3 {
            bench.command(.setRelay(on: false, autoOff: nil))
            bench.press(milliseconds: 100)
            bench.run(for: .seconds(1))
        }
        bench.command(.setRelay(on: true, autoOff: .seconds(2)))
        bench.run(for: .seconds(3))
        #expect(bench.machine.state.tripped == nil && !bench.machine.state.relayOn)
        bench.command(.setRelay(on: true, autoOff: .seconds(2)))
        #expect(bench.machine.state.tripped == .switchingRate)
    }
}
