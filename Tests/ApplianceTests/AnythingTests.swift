import Appliance
import Metering
import PlugModel
import ProtocolCore
import Testing

@Suite struct AnythingTests {
    /// Random events at random times, after which the invariants of the machine must hold.
    @Test("The machine keeps its invariants under random events", arguments: 0..<200 as Range<UInt64>)
    func whateverHappensTheMachineKeepsItsPromises(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bench = Bench(
            StoredState(relayOn: random.chance(0.5), milliwattHours: 1000), powerLost: random.chance(0.5)
        ) {
            if random.chance(0.5) { $0.capabilities.insert(.dimmer) }
            if random.chance(0.3) { $0.autoOff = .seconds(20) }
        }
        var relayOn = bench.machine.state.relayOn
        var energy: UInt64 = 1000
        for _ in 0..<300 {
            bench.forget()
            bench.load = random.chance(0.1) ? nil : .random(in: -100...50_000, using: &random)
            if random.chance(0.3) { bench.now = bench.now + random.duration(in: .zero ... .seconds(30)) }
            let asked = step(&bench, &random)
            #expect(bench.answers.count == asked)
            for case .record(.relayChanged(let on, _)) in bench.log.map(\.action) {
                #expect(on != relayOn, "the event reports the state that the relay already had")
                relayOn = on
            }
            #expect(bench.machine.state.relayOn == relayOn)
            if let set = bench.relay.last { #expect(set.value == relayOn) }
            if let reported = bench.states.last { #expect(reported.value.relayOn == relayOn) }
            if let level = bench.machine.state.level, !relayOn { #expect(level.permille > 0) }
            #expect(bench.machine.storedState.milliwattHours >= energy)
            energy = bench.machine.storedState.milliwattHours
            if let deadline = bench.machine.nextDeadline {
                #expect(deadline > bench.now, "the deadline is not in the future")
            }
        }
    }

    /// Performs one random step and returns the number of commands that it sent.
    private func step(_ bench: inout Bench, _ random: inout SeededRandom) -> Int {
        switch Int.random(in: 0...6, using: &random) {
        case 0:
            bench.edge(down: random.chance(0.5))
        case 1:
            let autoOff: Duration? = random.chance(0.5) ? nil : random.duration(in: .seconds(-1)...(.seconds(40)))
            bench.command(.setRelay(on: random.chance(0.6), autoOff: autoOff))
            return 1
        case 2:
            let level = DimLevel(percent: random.chance(0.3) ? 0 : .random(in: 0...100, using: &random))
            let duration = random.chance(0.5) ? Duration.zero : random.duration(in: .seconds(-1)...(.seconds(9)))
            bench.command(.setLevel(level, transition: duration))
            return 1
        case 3:
            bench.command(.identify)
            return 1
        case 4:
            bench.feed(.meterFailed)
        case 5:
            bench.feed(.stopping)
        default:
            bench.run(for: random.duration(in: .zero ... .seconds(8)))
        }
        return 0
    }
}
