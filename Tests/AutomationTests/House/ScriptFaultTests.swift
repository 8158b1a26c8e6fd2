import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import DurableRules
@testable import RuleModel

@Suite("Scripts in a house with faults")
struct ScriptFaultTests {
    /// Runs a house in which the switch is pressed and faults occur. Kills and suspensions end before the run ends;
    /// commands are lost and scripts fail until then.
    private func disturbed(_ seed: UInt64) -> FaultyHouse {
        let scripts = FaultyScripts.airing + FaultyScripts.counting
        var house = FaultyHouse(seed: seed, rules: scripts)
        house.add(.start, after: .zero)
        house.add(.reading, after: .milliseconds(500))
        var time = Duration.seconds(5)
        while time < .seconds(600) {
            switch Int.random(in: 0..<10, using: &house.random) {
            case 0..<4: house.add(.press, after: time)
            case 4:
                for delay in 0..<8 { house.add(.press, after: time + .milliseconds(20 * delay)) }
            case 5: house.add(.kill, after: time)
            case 6: house.add(.suspend(house.random.duration(in: .milliseconds(10)...(.seconds(30)))), after: time)
            case 7:
                let isOn = Bool.random(using: &house.random)
                house.add(.enabled("count.lua:1", isOn), after: time)
            case 8: house.add(.clock, after: time)
            default:
                var changed = FaultyScripts.counting
                if Bool.random(using: &house.random) { changed[0].cooldown = .milliseconds(1) }
                if Bool.random(using: &house.random) { changed.removeLast() }
                if house.random.chance(0.3) { changed = [] }
                house.add(.newRules(FaultyScripts.airing + changed), after: time)
            }
            time += house.random.duration(in: .milliseconds(1)...(.seconds(10)))
        }
        house.add(.newRules(scripts), after: .seconds(640))
        house.add(.enabled("count.lua:1", true), after: .seconds(640))
        house.run(for: .seconds(800))
        return house
    }

    /// Returns the calls that a script has answered, as `FUNCTION:ID`. The script collects them in its state.
    private func answered(_ script: String, in house: FaultyHouse) -> [String] {
        let state = house.machine?.scriptState(of: script) ?? ""
        return state.split(separator: " ").map(String.init)
    }

    @Test("Every call is answered once or reported as failed", arguments: 1...30 as ClosedRange<UInt64>)
    func once(seed: UInt64) throws {
        var house = disturbed(seed)
        #expect(house.violations.isEmpty)
        let memory = try #require(house.machine?.memory)
        #expect(memory.calls.isEmpty)
        let failed = Set(house.scripts.failed.map(\.hexadecimal))
        var all: [String] = []
        for script in [FaultyScripts.air, FaultyScripts.count] {
            let entries = answered(script, in: house)
            #expect(Set(entries).count == entries.count, "\(script) answered a call twice")
            let ids = entries.map { String($0.dropFirst(2)) }
            #expect(failed.isDisjoint(with: ids), "a call was reported as failed although it was answered")
            all += ids
        }
        let done = failed.union(all)
        for firing in house.firings {
            #expect(done.contains(firing.id.part(action: 0).hexadecimal), "a call of \(firing.rule) is lost")
        }
        let met = (house.firings + house.heldBack).filter { $0.rule == "air.lua:1" }.compactMap { $0.cause.event }
        let pressed = house.plugs["Switch"]?.journal.map { $0.sequence } ?? []
        #expect(Set(met) == Set(pressed), "a press is lost")
        #expect(!house.plugs["Fan"]!.on, "the fan must be off at the end")
        #expect(memory.scripts.allSatisfy { $0.timers.isEmpty })
        let airing = answered(FaultyScripts.air, in: house)
        let starts = airing.count { $0.hasPrefix("0:") }
        let ends = airing.count { $0.hasPrefix("1:") }
        #expect(starts > 0 && ends > 0 && ends <= starts && failed.count < all.count)
        for plug in house.plugs.values { #expect(Set(plug.done).count == plug.done.count) }
        evening(&house)
    }

    /// Checks that the scripts act exactly as written after the faults end.
    private func evening(_ house: inout FaultyHouse) {
        house.isCalm = true
        house.run(for: .seconds(10))
        let before = [FaultyScripts.air, FaultyScripts.count].map { answered($0, in: house).count }
        house.add(.press, after: .zero)
        house.run(for: .seconds(2))
        #expect(house.plugs["Fan"]!.on)
        house.run(for: .seconds(17))
        #expect(house.plugs["Fan"]!.on)
        house.run(for: .seconds(3))
        #expect(!house.plugs["Fan"]!.on)
        let after = [FaultyScripts.air, FaultyScripts.count].map { answered($0, in: house).count }
        #expect(after == [before[0] + 4, before[1] + 2])
    }
}
