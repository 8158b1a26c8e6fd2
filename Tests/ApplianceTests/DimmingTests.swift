import Appliance
import PlugModel
import ProtocolCore
import Testing

@Suite struct DimmingTests {
    private func bench(_ stored: StoredState = StoredState()) -> Bench {
        var bench = Bench(stored, powerLost: false) { $0.capabilities = [.relay, .dimmer, .button] }
        bench.forget()
        return bench
    }

    private func level(_ percent: Double) -> DimLevel { DimLevel(percent: percent) }

    @Test("A level without a transition is set at once") func atOnce() {
        var bench = bench()
        bench.command(.setLevel(level(30), transition: .zero))
        #expect(bench.machine.state == PlugState(relayOn: true, level: level(30)))
        #expect(bench.dimmer == [Timed(0, 300)])
        bench.command(.setLevel(level(70), transition: .zero))
        #expect(bench.dimmer == [Timed(0, 300), Timed(0, 700)])
        #expect(bench.relay == [Timed(0, true)])
        #expect(
            bench.answers.map { if case .done(_, let recorded) = $0 { recorded } else { false } } == [true, false])
    }

    @Test("A transition changes the level linearly every 20 ms")
    func aTransitionMovesEveryTwentyMillisecondsInAStraightLine() {
        var bench = bench(StoredState(relayOn: true, level: level(20)))
        bench.command(.setLevel(level(80), transition: .seconds(1)))
        bench.run(for: .seconds(5))
        #expect(bench.dimmer == (1...50).map { Timed($0 * 20, 200 + UInt16($0) * 12) })
        // The state is reported at most five times per second during the transition, and at its end.
        #expect(bench.states.map(\.at) == [200, 400, 600, 800, 1000])
        #expect(bench.states.last?.value.level == level(80))
    }

    @Test("A transition from off begins at level zero") func fromOffItBeginsInTheDark() {
        var bench = bench(StoredState(level: level(90)))
        bench.command(.setLevel(level(10), transition: .milliseconds(100)))
        bench.run(for: .seconds(1))
        #expect(
            bench.dimmer == [Timed(0, 0), Timed(20, 20), Timed(40, 40), Timed(60, 60), Timed(80, 80), Timed(100, 100)])
        #expect(bench.relay == [Timed(0, true)])
    }

    @Test("A transition to zero turns the relay off at its end and keeps the stored level")
    func downToZeroTurnsTheRelayOffAtTheEndAndKeepsTheLevel() {
        var bench = bench(StoredState(relayOn: true, level: level(50)))
        let request = bench.command(.setLevel(level(0), transition: .milliseconds(100)))
        #expect(bench.relay.isEmpty)
        bench.run(for: .seconds(1))
        #expect(bench.dimmer.map(\.value) == [400, 300, 200, 100, 0, 0])
        #expect(bench.relay == [Timed(100, false)])
        #expect(
            bench.recorded == [
                .relayChanged(
                    on: false, cause: .controller(name: "kitchen", request: request.request, authority: .desk))
            ])
        #expect(bench.machine.state == PlugState(relayOn: false, level: level(50)))
        bench.command(.setRelay(on: true, autoOff: nil))
        #expect(bench.dimmer.last == Timed(1000, 500))
        #expect(bench.machine.state == PlugState(relayOn: true, level: level(50)))
    }

    @Test("Level zero without a transition turns the relay off") func zeroAtOnceIsOff() {
        var bench = bench(StoredState(relayOn: true, level: level(50)))
        bench.command(.setLevel(level(0), transition: .zero))
        #expect(bench.relay == [Timed(0, false)])
        bench.command(.setLevel(level(0), transition: .seconds(5)))
        bench.run(for: .seconds(10))
        #expect(bench.relay == [Timed(0, false)])
        #expect(bench.dimmer == [Timed(0, 0)])
    }

    /// The LED driver of a plug without a relay is always connected to the mains.
    @Test("Without a relay, the dimmer turns the load off and on") func withoutARelayTheDimmerAloneTurnsOffAndOn() {
        var bench = Bench(StoredState(relayOn: true, level: level(60)), powerLost: false) {
            $0.capabilities = [.dimmer, .button]
        }
        #expect(bench.dimmer == [Timed(0, 600)])
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.dimmer.map(\.value) == [600, 0, 600])
        #expect(bench.machine.state == PlugState(relayOn: true, level: level(60)))
    }

    @Test("A plug without a relay that starts off sets level zero") func oneThatStartsOffIsDark() {
        let bench = Bench(StoredState(level: level(60)), powerLost: false) { $0.capabilities = [.dimmer, .button] }
        #expect(bench.dimmer == [Timed(0, 0)])
        #expect(bench.machine.state == PlugState(relayOn: false, level: level(60)))
    }

    @Test("A press ends a transition, and the next press turns on at the transition's target level")
    func theButtonEndsATransitionAndTheNextOneTurnsOnAtItsAim() {
        var bench = bench(StoredState(relayOn: true, level: level(20)))
        bench.command(.setLevel(level(80), transition: .seconds(10)))
        bench.run(for: .seconds(5))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(10))
        #expect(bench.relay == [Timed(5120, false)])
        #expect(bench.dimmer.suffix(2).map(\.at) == [5100, 5120])
        #expect(bench.dimmer.last?.value == 0)
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.dimmer.last == Timed(15_220, 800))
    }

    @Test("A new transition continues from the current level") func aNewTransitionGoesOnFromWhereTheLightIs() {
        var bench = bench(StoredState(relayOn: true, level: level(0.1)))
        bench.command(.setLevel(level(100), transition: .seconds(1)))
        bench.run(milliseconds: 500)
        let middle = bench.dimmer.last?.value
        bench.forget()
        bench.command(.setLevel(level(0), transition: .seconds(1)))
        bench.run(milliseconds: 2000)
        #expect(middle == 501)
        #expect(bench.dimmer.first == Timed(520, 491))
        #expect(bench.relay == [Timed(1500, false)])
    }

    @Test("Missed steps of a transition are skipped") func lateStepsAreSkippedNotMadeUpFor() {
        var bench = bench(StoredState(relayOn: true, level: level(0.1)))
        bench.command(.setLevel(level(100), transition: .seconds(1)))
        bench.now = bench.now + .milliseconds(730)
        bench.feed(.deadlineReached)
        bench.run(for: .milliseconds(30))
        #expect(bench.dimmer.map(\.at) == [730, 740, 760])
        bench.now = bench.now + .seconds(20)
        bench.feed(.deadlineReached)
        #expect(bench.dimmer.last?.value == 1000)
        #expect(bench.machine.nextDeadline.map { $0 > bench.now } ?? true)
    }
}
