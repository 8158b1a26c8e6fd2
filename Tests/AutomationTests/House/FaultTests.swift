import PlugModel
import ProtocolCore
import Testing

@testable import RuleModel

@Suite("Rules in a house with faults")
struct FaultTests {
    /// Runs a house in which, for ten minutes, the television's power changes, the switch is pressed, and faults occur.
    /// Kills, suspensions and disconnections end before the run ends; commands and answers are lost until then.
    private func disturbed(_ seed: UInt64) -> FaultyHouse {
        var house = FaultyHouse(seed: seed)
        house.add(.start, after: .zero)
        house.add(.reading, after: .milliseconds(500))
        var time = Duration.seconds(5)
        while time < .seconds(600) {
            switch Int.random(in: 0..<10, using: &house.random) {
            case 0..<2: house.add(.watts([5, 30, 80].randomElement(using: &house.random)!), after: time)
            case 2..<5: house.add(.press, after: time)
            case 5: house.add(.kill, after: time)
            case 6: house.add(.suspend(house.random.duration(in: .milliseconds(10)...(.seconds(30)))), after: time)
            case 7:
                let name = ["Television", "Light", "Amplifier"].randomElement(using: &house.random)!
                house.add(.plug(name, isThere: false), after: time)
                let length = house.random.duration(in: .milliseconds(10)...(.seconds(30)))
                house.add(.plug(name, isThere: true), after: time + length)
            case 8: house.add(.clock, after: time)
            default:
                let more = Bool.random(using: &house.random) ? [Self.other] : []
                house.add(.newRules(FaultyHouse.rules + more), after: time)
            }
            time += house.random.duration(in: .milliseconds(100)...(.seconds(15)))
        }
        house.run(for: .seconds(700))
        return house
    }

    private static let other = Rule(
        name: "Other", triggers: [.button(plug: "Switch", .long)], actions: [.turnOn(["Light"])])

    @Test("Every rule keeps its invariants despite faults", arguments: 1...60 as ClosedRange<UInt64>)
    func promises(seed: UInt64) {
        var house = disturbed(seed)
        #expect(house.violations.isEmpty)
        for (name, plug) in house.plugs {
            #expect(Set(plug.done).count == plug.done.count, "\(name) executed a command twice")
        }
        // After a kill, the next process may handle the same press again. All firings of this press have the same id.
        var edges: [SequenceNumber: RequestID] = [:]
        for firing in house.firings {
            if let event = firing.cause.event {
                #expect(edges[event] == nil || edges[event] == firing.id)
                edges[event] = firing.id
            }
            guard firing.rule == "Cinema", let since = firing.cause.since else { continue }
            #expect(firing.time - since >= .seconds(3), "the rule fired before the dwell was over")
            // After a suspension, the process may handle the rise up to 60 s late.
            let loads = zip(house.loads, house.loads.dropFirst().map(\.at) + [house.now])
            let rose = loads.contains { load, end in
                load.watts > 40 && load.at <= firing.time - .seconds(3) && end >= firing.time - .seconds(60)
            }
            #expect(rose, "the rule fired without a rise of the power")
        }
        #expect(!house.plugs["Fan"]!.on, "the fan must be off at the end")
        #expect(Set(house.performed).isSubset(of: house.finished), "an effect is lost")
        evening(&house)
    }

    /// Checks that the rules act exactly as written after the faults end.
    private func evening(_ house: inout FaultyHouse) {
        house.isCalm = true
        house.add(.watts(5), after: .zero)
        house.run(for: .seconds(70))
        house.plugs["Light"]?.on = true
        house.add(.plug("Light", isThere: false), after: .zero)
        house.add(.plug("Light", isThere: true), after: .seconds(1))
        house.run(for: .seconds(5))
        let count = house.firings.count
        house.add(.watts(80), after: .zero)
        house.run(for: .seconds(6))
        #expect(house.firings.count == count + 1 && !house.plugs["Light"]!.on && house.plugs["Amplifier"]!.on)
        house.add(.watts(5), after: .zero)
        house.run(for: .seconds(6))
        #expect(house.firings.count == count + 2 && house.plugs["Light"]!.on && !house.plugs["Amplifier"]!.on)
        house.add(.press, after: .zero)
        house.run(for: .seconds(2))
        #expect(house.plugs["Fan"]!.on)
        house.run(for: .seconds(20))
        #expect(!house.plugs["Fan"]!.on)
    }
}
