import Appliance
import PlugModel
import ProtocolCore
import Testing

@Suite struct RelayTests {
    @Test("The answer to a command contains the new state and comes after the event")
    func aCommandIsAnsweredWithTheStateAndItsEventComesFirst() {
        var bench = Bench(powerLost: false)
        bench.forget()
        let request = bench.command(.setRelay(on: true, autoOff: nil))
        let cause = RelayCause.controller(name: "kitchen", request: request.request, authority: .desk)
        let state = bench.machine.state
        #expect(state.relayOn)
        #expect(
            bench.log.map(\.action) == [
                .part(.setRelay(true)), .record(.relayChanged(on: true, cause: cause)),
                .commandDone(request, .done(state, recorded: true)), .part(.setLight(true)), .stateChanged(state),
            ])
    }

    @Test("A command to turn on a plug that is on is answered, and nothing else happens")
    func doingItTwiceChangesNothing() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.forget()
        let request = bench.command(.setRelay(on: true, autoOff: nil))
        #expect(bench.log.map(\.action) == [.commandDone(request, .done(bench.machine.state, recorded: false))])
    }

    @Test("Before the event `started`, the machine refuses commands and ignores other events")
    func beforeTheStartCommandsAreRefusedAndNothingElseHappens() {
        var machine = ApplianceMachine(ApplianceConfiguration())
        #expect(machine.nextDeadline == nil)
        #expect(machine.handle(.shell(.buttonEdge(down: true, at: .zero)), now: .zero).isEmpty)
        #expect(machine.handle(.deadlineReached, now: .zero).isEmpty)
        let request = CommandID(RequestID(bytes: [UInt8](repeating: 1, count: 16))!, of: .desk)
        let answer = machine.handle(.command(request, controller: "a", .identify), now: .zero)
        guard case .commandDone(request, .refused(let refusal)) = answer.first else {
            Issue.record("not answered: \(answer)")
            return
        }
        #expect(refusal.code == .busy)
    }

    @Test(
        "After a loss of power, the power-on setting determines whether the relay is on",
        arguments: [
            (PowerOnState.off, true, false), (.off, false, false), (.on, false, true), (.on, true, true),
            (.last, true, true),
            (.last, false, false), (.lockedOn, false, true), (.lockedOn, true, true),
        ])
    func afterALossOfPowerThePowerOnStateCounts(policy: PowerOnState, wasOn: Bool, expected: Bool) {
        let bench = Bench(StoredState(relayOn: wasOn)) { $0.powerOnState = policy }
        #expect(bench.relay == [Timed(0, expected)])
        let change: [PlugEvent.Kind] = wasOn == expected ? [] : [.relayChanged(on: expected, cause: .powerOn)]
        #expect(bench.recorded == [.restarted(powerLost: true)] + change)
    }

    @Test(
        "A restart of the firmware changes the relay only if the plug is locked on and its relay was off",
        arguments: PowerOnState.allCases, [true, false])
    func aRestartOfTheFirmwareAloneLeavesTheRelay(policy: PowerOnState, wasOn: Bool) {
        let bench = Bench(StoredState(relayOn: wasOn), powerLost: false) { $0.powerOnState = policy }
        let isTurnedOn = policy == .lockedOn && !wasOn
        #expect(bench.relay == [Timed(0, wasOn || isTurnedOn)])
        let change: [PlugEvent.Kind] = isTurnedOn ? [.relayChanged(on: true, cause: .powerOn)] : []
        #expect(bench.recorded == [.restarted(powerLost: false)] + change)
    }

    @Test("Each further command to turn on restarts its auto-off time") func autoOffOfACommand() {
        var bench = Bench()
        bench.forget()
        bench.command(.setRelay(on: true, autoOff: .seconds(90)))
        bench.run(for: .seconds(60))
        // A second command restarts the auto-off time.
        bench.command(.setRelay(on: true, autoOff: .seconds(90)))
        bench.run(for: .seconds(89))
        #expect(bench.relay == [Timed(0, true)])
        bench.run(for: .seconds(1))
        #expect(bench.relay == [Timed(0, true), Timed(150_000, false)])
        #expect(bench.recorded.last == .relayChanged(on: false, cause: .timer))
        bench.run(for: .seconds(600))
        #expect(bench.relay.count == 2)
    }

    @Test("A command to turn off, or a further command to turn on without auto-off, cancels a running auto-off")
    func turningOffEndsTheTimerAndACommandWithoutOneTakesItBack() {
        var bench = Bench()
        bench.command(.setRelay(on: true, autoOff: .seconds(10)))
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(60))
        #expect(bench.machine.state.relayOn)
        bench.command(.setRelay(on: true, autoOff: .seconds(10)))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(60))
        #expect(bench.machine.state.relayOn)
    }

    @Test("The configured auto-off applies to the button and to power-on")
    func theConfiguredAutoOffHoldsForTheButtonAndForPowerOn() {
        var bench = Bench {
            $0.powerOnState = .on; $0.autoOff = .seconds(30)
        }
        bench.run(for: .seconds(40))
        #expect(bench.relay == [Timed(0, true), Timed(30_000, false)])
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(40))
        #expect(bench.relay.suffix(2) == [Timed(40_120, true), Timed(70_120, false)])
    }

    @Test("A command with a value out of range, or for a part that the plug lacks, is refused")
    func whatIsOutOfRangeOrMissingIsRefusedWithASentence() {
        var bench = Bench()
        bench.forget()
        bench.command(.setRelay(on: true, autoOff: .zero))
        bench.command(.setRelay(on: true, autoOff: .seconds(31 * 86_400)))
        bench.command(.setLevel(.full, transition: .zero))
        var dimmer = Bench {
            $0.capabilities.insert(.dimmer); $0.capabilities.remove(.relay)
        }
        dimmer.forget()
        dimmer.command(.setLevel(.full, transition: .seconds(3601)))
        dimmer.command(.setLevel(.full, transition: .seconds(-1)))
        var neither = Bench { $0.capabilities.remove(.relay) }
        neither.forget()
        neither.command(.setRelay(on: true, autoOff: nil))
        let refusals = (bench.answers + dimmer.answers + neither.answers).map { answer -> Refusal? in
            if case .refused(let refusal) = answer { refusal } else { nil }
        }
        #expect(
            refusals.map { $0?.code } == [
                .outOfRange, .outOfRange, .unsupported, .outOfRange, .outOfRange, .unsupported,
            ])
        #expect(refusals[2]?.detail == "This plug has no dimmer; it can only be turned on and off.")
        #expect(bench.relay.isEmpty)
    }

    @Test("After an identify command the light blinks for ten seconds, and then shows the relay state again")
    func identifyBlinksForTenSecondsAndThenTheLightFollowsTheRelay() {
        var bench = Bench()
        #expect(bench.light == [Timed(0, false)])
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.forget()
        bench.command(.identify)
        bench.run(for: .seconds(12))
        // The light is on when the command arrives, changes every 250 ms, and stays on from 10 s.
        let blinks = (1...39).map { Timed($0 * 250, $0.isMultiple(of: 2)) }
        #expect(bench.light == blinks + [Timed(10_000, true)])
        #expect(bench.recorded.isEmpty)
    }
}
