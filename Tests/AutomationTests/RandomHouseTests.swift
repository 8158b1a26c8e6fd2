import Automation
import PlugModel
import ProtocolCore
import RuleModel
import Testing

@Suite("Random houses")
struct RandomHouseTests {
    private static let plugs = ["Television", "television", "Amplifier", "Hall"]

    private static let rules = [
        Rule.television(dwell: .seconds(3)), Rule.button(.toggle(["Amplifier", "Television"]), cooldown: .seconds(2)),
        Rule(
            name: "Off again",
            triggers: [.activePower(plug: "TELEVISION", PowerThreshold(.fallsBelow, watts: 20))],
            conditions: [.relay(plug: "Amplifier", on: true)], actions: [.turnOff(["Amplifier"])]),
    ]

    private static func event(_ random: inout SeededRandom, now: Instant) -> RuleEngineEvent {
        let plug = plugs.randomElement(using: &random)!
        let state = PlugState(relayOn: random.chance(0.5))
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .plugAppeared(plug: plug, state: state)
        case 1: return .plugLost(plug: plug)
        case 2: return .state(plug: plug, on: random.chance(0.5), level: nil)
        case 3:
            let event = PlugEvent(
                sequence: .random(in: 0..<50, using: &random), boot: .first, time: now, kind: .buttonPressed(.single))
            return .happened(plug: plug, event, age: random.duration(in: .zero ... .seconds(10)))
        case 4:
            return .commandFinished(
                plug: plug, id: RequestID(drawnFrom: &random), outcome: .done(state, event: nil))
        case 5: return .deadlineReached
        case 6:
            let on = PlugCommand.setRelay(on: random.chance(0.5), autoOff: nil)
            return .commandResumed(CommandRequest(id: RequestID(drawnFrom: &random), plug: plug, command: on))
        case 7: return .gap(plug: plug, to: .random(in: 0..<50, using: &random))
        case _:
            let time = now + random.duration(in: .seconds(-2) ... .seconds(2))
            return .reading(
                plug: plug, activePower: .random(in: 0..<100, using: &random), time: time,
                isSnapshot: random.chance(0.05))
        }
    }

    @Test("Equal events cause equal actions, and only readings, plug events and ends of dwells fire rules")
    func invariants() {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            var engine = RuleEngine(rules: Self.rules)
            var twin = engine
            var now = Instant.zero
            for _ in 0..<200 {
                now = now + random.duration(in: .zero ... .seconds(1))
                let event = Self.event(&random, now: now)
                let due = engine.nextDeadline
                let actions = engine.handle(event, now: now)
                #expect(actions == twin.handle(event, now: now))
                #expect(engine.nextDeadline == twin.nextDeadline)
                let fired = actions.contains { if case .fired = $0 { true } else { false } }
                switch event {
                case .reading(_, _, _, false), .happened: break
                case .deadlineReached: #expect(engine.nextDeadline.map { $0 > now } ?? true)
                case .reading, .plugAppeared, .plugLost, .state, .gap, .commandResumed, .commandFinished, .recorded,
                    .clockChanged, .energy, .rulesChanged, .ruleEnabled, .ruleRun, .timerEnded, .scriptAnswered:
                    // These events fire a rule only if a dwell has ended in the meantime.
                    #expect(!fired || due.map { $0 <= now } ?? false, "seed \(seed): \(event) gave \(actions)")
                }
            }
        }
    }

    @Test("Without a dwell, the engine fires at exactly the rises that a search of the complete series finds")
    func againstTheSeries() {
        for seed in 0..<500 {
            var random = SeededRandom(seed: UInt64(seed))
            let series = (0..<200).map { _ in (Double.random(in: 30..<50, using: &random) * 10).rounded() / 10 }
            var house = VirtualHouse(.television())
            house.appear("Television", watts: series[0], at: 0)
            for second in 1..<series.count { house.read("Television", series[second], at: Double(second)) }
            // A rise counts if a value of 38 W or less came after the last value above 40 W.
            let expected = series.indices.dropFirst().filter { index in
                guard series[index] > 40 else { return false }
                let before = series[..<index].lastIndex { $0 > 40 }.map { $0 + 1 } ?? 0
                return series[before..<index].contains { $0 <= 38 }
            }
            #expect(house.firings == expected.map { "\(Double($0)) Movie night" }, "seed \(seed)")
        }
    }
}
