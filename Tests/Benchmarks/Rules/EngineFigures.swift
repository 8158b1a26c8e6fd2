import Automation
import PlugModel
import ProtocolCore
import RuleModel

/// Measures the rule engine with 10 plugs: readings without an edge with 20 rules, presses and crossings with 10 rules.
/// The reference for readings and firings is a plain loop over the thresholds.
func engineFigures() -> [Figure] { quietFigures() + pressFigures() + crossingFigures() }

/// A rule of the plain loop.
private struct PlainRule {
    var plug: Int
    var threshold: Double
    var isAbove: Bool
}

private let plugNames = (0..<10).map { "Plug \($0)" }

/// Ten rules wait for a rise and ten for a fall, each with a dwell of 3 s.
private let houseRules = (0..<20).map { number in
    let direction: PowerThreshold.Direction = number < 10 ? .risesAbove : .fallsBelow
    let threshold = PowerThreshold(
        direction, watts: direction == .risesAbove ? 100 : 5, dwell: .seconds(3))
    return Rule(
        name: "Rule \(number)", triggers: [.activePower(plug: plugNames[number % 10], threshold)],
        conditions: [.relay(plug: plugNames[0], on: true)], actions: [.turnOff([plugNames[(number + 1) % 10]])])
}

private func house(_ rules: [Rule]) -> (engine: RuleEngine, plugs: [PlugIndex]) {
    var engine = RuleEngine(rules: rules)
    for name in plugNames { _ = engine.handle(.plugAppeared(plug: name, state: PlugState(relayOn: true)), now: .zero) }
    return (engine, plugNames.compactMap { engine.index(of: $0) })
}

/// Measures readings that trigger nothing: noise between the thresholds, one reading per second from every plug.
private func quietFigures() -> [Figure] {
    let seconds = 400_000
    var random = SeededRandom(seed: 1)
    let noise = (0..<1024).map { _ in Double.random(in: 20..<80, using: &random) }
    var (engine, plugs) = house(houseRules)
    var actions = 0
    let own = secondsTaken {
        for second in 1...seconds {
            let now = Instant(nanoseconds: Int64(second) * 1_000_000_000)
            for plug in plugs.indices {
                let watts = noise[(second + plug) & 1023]
                actions += engine.read(plugs[plug], activePower: watts, time: now, now: now).count
            }
        }
    }
    precondition(actions == 0, "noise between the thresholds fired a rule")
    var plain = houseRules.indices.map { number in
        PlainRule(plug: number % 10, threshold: number < 10 ? 100 : 5, isAbove: number >= 10)
    }
    var crossings = 0
    let reference = secondsTaken {
        for second in 1...seconds {
            for plug in plugs.indices {
                let watts = noise[(second + plug) & 1023]
                for rule in plain.indices where plain[rule].plug == plug {
                    let isAbove = watts > plain[rule].threshold
                    if isAbove != plain[rule].isAbove {
                        plain[rule].isAbove = isAbove
                        crossings += 1
                    }
                }
            }
        }
    }
    precondition(crossings == 0, "noise between the thresholds crossed a threshold")
    let readings = Double(seconds * plugs.count) / 1e6
    return [
        Figure(
            "readings without an edge", readings / own, "M/s",
            against: Figure.Reference(name: "plain loop", value: readings / reference), .ratioAtLeast(1.0 / 4))
    ]
}

private struct PlainCommand {
    var plug: String
    var isOn: Bool
}

/// Returns a rule for each plug that turns off the next plug.
private func firingRules(_ trigger: (String) -> Trigger) -> [Rule] {
    plugNames.indices.map { number in
        var rule = Rule(
            name: "Rule \(number)", triggers: [trigger(plugNames[number])],
            actions: [.turnOff([plugNames[(number + 1) % 10]])])
        // The default limit would suppress most firings.
        rule.limit = FiringLimit(1, within: .nanoseconds(1))
        return rule
    }
}

/// Measures presses of all buttons in turn. Every event fires a rule.
private func pressFigures() -> [Figure] {
    let firings = 500_000
    var (engine, _) = house(firingRules { .button(plug: $0, .single) })
    guard let boot = BootID(bytes: 0..<16) else { preconditionFailure("a boot id has 16 bytes") }
    var actions = 0
    let own = secondsTaken {
        for number in 0..<firings {
            let now = Instant(nanoseconds: Int64(number + 1) * 1_000_000)
            let press = PlugEvent(
                sequence: UInt64(number / 10 + 1), boot: boot, time: now, kind: .buttonPressed(.single))
            actions += engine.handle(.happened(plug: plugNames[number % 10], press, age: .zero), now: now).count
        }
    }
    precondition(actions == 2 * firings, "each press fires once, with one command")
    // The requirement is a million firings per second.
    return [Figure("a press, its firing and its command", own / Double(firings) * 1e6, "µs", .atMost(1))]
}

/// Measures power that crosses a threshold without a dwell. Every second reading of a plug fires a rule, and the
/// others arm its trigger.
private func crossingFigures() -> [Figure] {
    let firings = 500_000
    let threshold = PowerThreshold(.risesAbove, watts: 40)
    var (engine, plugs) = house(firingRules { .activePower(plug: $0, threshold) })
    var actions = 0
    let own = secondsTaken {
        for number in 0..<2 * firings {
            let now = Instant(nanoseconds: Int64(number + 1) * 1_000_000)
            let watts = number / plugs.count % 2 == 0 ? 1.0 : 80
            actions += engine.read(plugs[number % plugs.count], activePower: watts, time: now, now: now).count
        }
    }
    precondition(actions == 2 * firings, "each rise fires once, with one command")
    var isAbove = Array(repeating: false, count: plugs.count)
    var commands: [PlainCommand] = []
    let reference = secondsTaken {
        for number in 0..<2 * firings {
            let watts = number / plugs.count % 2 == 0 ? 1.0 : 80
            let plug = number % plugs.count
            if watts > 40, !isAbove[plug] {
                commands.append(PlainCommand(plug: plugNames[(plug + 1) % 10], isOn: false))
            }
            isAbove[plug] = watts > 40
        }
    }
    precondition(commands.count == firings, "the plain loop found a different number of rises")
    let plain = Figure.Reference(name: "plain loop that appends a command", value: Double(firings) / reference / 1e6)
    return [
        Figure("two crossings, a firing and its command", own / Double(firings) * 1e6, "µs", .atMost(1)),
        Figure("firings", Double(firings) / own / 1e6, "M/s", against: plain),
    ]
}
